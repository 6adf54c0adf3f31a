package leaderelection

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const deadline = 10 * time.Second

// pass lets the time of a synctest bubble pass.
func pass(d time.Duration) { <-time.After(d) }

func TestFence(t *testing.T) {
	tests := map[string]struct {
		happens func(*Fence)
		open    bool
		over    bool
	}{
		"is closed, but not for good, before the lease was ever held": {
			happens: func(*Fence) {},
		},
		"is open within the renew deadline": {
			happens: func(f *Fence) {
				f.Extend(time.Now().Add(deadline))
				pass(deadline - 1)
			},
			open: true,
		},
		"closes when the renew deadline is reached": {
			happens: func(f *Fence) {
				f.Extend(time.Now().Add(deadline))
				pass(deadline)
			},
			over: true,
		},
		"stays open as long as renewals come": {
			happens: func(f *Fence) {
				for range 5 {
					f.Extend(time.Now().Add(deadline))
					pass(deadline - 1)
				}
			},
			open: true,
		},
		"stays closed when a renewal comes too late": {
			happens: func(f *Fence) {
				f.Extend(time.Now().Add(deadline))
				pass(deadline)
				f.Extend(time.Now().Add(deadline))
			},
			over: true,
		},
		"stays closed when a renewal was sent in time and answered too late": {
			happens: func(f *Fence) {
				f.Extend(time.Now().Add(deadline))
				sent := time.Now()
				pass(deadline + time.Second)
				f.Extend(sent.Add(deadline))
			},
			over: true,
		},
		"stays closed when the process wakes up to a renewal before its alarm": {
			happens: func(f *Fence) {
				f.deadline = time.Now() // as Extend leaves it, with an alarm that is late
				f.Extend(time.Now().Add(deadline))
			},
			over: true,
		},
		"closes when told to, whatever the clock says": {
			happens: func(f *Fence) {
				f.Extend(time.Now().Add(deadline))
				f.Close()
				f.Close()
			},
			over: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fence := NewFence()
				test.happens(fence)
				err := fence.Check()
				if open := err == nil; open != test.open {
					t.Errorf("open is %t, want %t (%v)", open, test.open, err)
				}
				if err != nil && !errors.Is(err, ErrFenced) {
					t.Errorf("got error %v, want one that is ErrFenced", err)
				}
				synctest.Wait()
				select {
				case <-fence.Closed():
					if !test.over {
						t.Error("closed for good, want not")
					}
				default:
					if test.over {
						t.Error("not closed for good, want so")
					}
				}
			})
		})
	}
}

func TestAnUnguardedFenceIsAlwaysOpen(t *testing.T) {
	fence := Unguarded()
	fence.Close()
	if err := fence.Check(); err != nil {
		t.Errorf("got %v, want an open fence", err)
	}
	if fence.Closed() != nil {
		t.Error("got a channel that could close, want none")
	}
}

func TestTransportRefusesWritesAndOnlyWrites(t *testing.T) {
	var served atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer server.Close()

	tests := map[string]struct {
		method string
		open   bool
		passes bool
	}{
		"a read passes the closed fence":          {method: http.MethodGet, passes: true},
		"a question without body passes, too":     {method: http.MethodHead, passes: true},
		"a create is refused":                     {method: http.MethodPost},
		"an update is refused":                    {method: http.MethodPut},
		"a patch is refused":                      {method: http.MethodPatch},
		"a delete is refused":                     {method: http.MethodDelete},
		"a create passes while the fence is open": {method: http.MethodPost, open: true, passes: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fence := NewFence()
			if test.open {
				fence.Extend(time.Now().Add(time.Hour))
			}
			before := served.Load()
			body := &closing{Reader: strings.NewReader("x")}
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL, body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := fence.Transport(http.DefaultTransport).RoundTrip(request)
			if err == nil {
				response.Body.Close()
			}
			if passed := err == nil; passed != test.passes {
				t.Errorf("passed is %t, want %t (%v)", passed, test.passes, err)
			}
			if reached := served.Load() > before; reached != test.passes {
				t.Errorf("the server was reached: %t, want %t", reached, test.passes)
			}
			if !body.closed.Load() {
				t.Error("the request's body was left open")
			}
		})
	}
}

type closing struct {
	io.Reader
	closed atomic.Bool
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return nil
}

func TestTransportShowsTheOneBelow(t *testing.T) {
	below := http.DefaultTransport
	wrapper, ok := NewFence().Transport(below).(utilnet.RoundTripperWrapper)
	if !ok || wrapper.WrappedRoundTripper() != below {
		t.Error("client-go cannot find the transport below the fence")
	}
}

// A write that passed the transport in time may wait long for its turn on the wire.
func TestNothingLeavesOnAConnectionOnceTheFenceHasClosed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	received := make(chan string, 1)
	go func() {
		server, err := listener.Accept()
		if err != nil {
			return
		}
		defer server.Close()
		data, _ := io.ReadAll(server) // ends with an error: the other side resets
		received <- string(data)
	}()

	fence := NewFence()
	fence.Extend(time.Now().Add(time.Hour))
	conn, err := fence.Dial((&net.Dialer{}).DialContext)(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("in time")); err != nil {
		t.Fatal(err)
	}
	fence.Close()
	if n, err := conn.Write([]byte(", too late")); !errors.Is(err, ErrFenced) || n != 0 {
		t.Errorf("wrote %d bytes with error %v, want none and ErrFenced", n, err)
	}
	conn.Close()
	if data := <-received; strings.Contains(data, "late") {
		t.Errorf("the server received %q", data)
	}
}

func TestDialPassesErrorsOn(t *testing.T) {
	refused := errors.New("refused")
	_, err := NewFence().Dial(func(context.Context, string, string) (net.Conn, error) {
		return nil, refused
	})(t.Context(), "tcp", "127.0.0.1:1")
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want the dialer's error", err)
	}
}
