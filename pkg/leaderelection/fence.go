package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrFenced is why a Fence refuses a write. It is found in the errors of the clients
// whose transport it guards.
var ErrFenced = errors.New("this process does not lead")

// Fence lets writes out only while this process leads: as long as the last renewal of
// the lease is younger than the renew deadline. Once it has closed it stays closed:
// leadership that was lost is not taken up again in the middle of the work, by a process
// whose caches may be old. It is safe for concurrent use.
//
// Time is measured with the monotonic clock. On Linux that one goes on while a process
// is stopped (SIGSTOP, a debugger, a frozen cgroup), so that a process that wakes up
// finds its fence closed. It stands still while the whole machine is suspended to RAM,
// and for a guest whose hypervisor hides a pause; there only the preconditions on each
// write are left.
type Fence struct {
	unguarded bool

	mu       sync.Mutex
	deadline time.Time     // until when it is open; zero before it was ever opened
	alarm    *time.Timer   // goes off at the deadline
	closed   chan struct{} // closed together with the fence
}

// NewFence returns a Fence that is not open yet.
func NewFence() *Fence {
	return &Fence{closed: make(chan struct{})}
}

// Unguarded returns a Fence that is always open, for a process that needs no lease.
func Unguarded() *Fence {
	return &Fence{unguarded: true}
}

// Extend opens the fence, or keeps it open, until the given time, which must carry a
// monotonic reading. On a fence that has closed it does nothing.
func (f *Fence) Extend(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over() {
		return
	}
	f.deadline = until
	if f.alarm == nil {
		f.alarm = time.AfterFunc(time.Until(until), f.expire)
		return
	}
	f.alarm.Reset(time.Until(until))
}

// Close closes the fence for good.
func (f *Fence) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut()
}

// Closed returns a channel that is closed once the fence has closed for good. It is
// still open before the fence was ever opened.
func (f *Fence) Closed() <-chan struct{} {
	return f.closed
}

// Check returns nil while the fence is open, and otherwise ErrFenced and why.
func (f *Fence) Check() error {
	if f.unguarded {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.over():
		return fmt.Errorf("%w any more: its lease was given up, taken, or not renewed in time", ErrFenced)
	case f.deadline.IsZero():
		return fmt.Errorf("%w yet", ErrFenced)
	}
	return nil
}

// over reports whether the fence has closed for good. The clock decides, not the alarm:
// in a process that has just woken up, the alarm may be late.
func (f *Fence) over() bool {
	if !f.deadline.IsZero() && time.Until(f.deadline) <= 0 {
		f.shut()
	}
	select {
	case <-f.closed:
		return true
	default:
		return false
	}
}

// expire closes the fence if its time is up.
func (f *Fence) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.over()
}

func (f *Fence) shut() {
	if f.unguarded {
		return
	}
	select {
	case <-f.closed:
	default:
		close(f.closed)
	}
}

// Transport wraps a client's transport: requests that could change something are
// refused while the fence is closed. Reads pass.
func (f *Fence) Transport(next http.RoundTripper) http.RoundTripper {
	return &transport{fence: f, next: next}
}

type transport struct {
	fence *Fence
	next  http.RoundTripper
}

// RoundTrip sends the request, or answers with the error of the closed fence.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		if err := t.fence.Check(); err != nil {
			if request.Body != nil {
				_ = request.Body.Close() // a RoundTripper must, and what it returns does not matter here
			}
			return nil, err
		}
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the connection's own transport.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// Dial opens a network connection.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Dial wraps how a client connects: nothing leaves on its connections while the fence is
// closed. Transport says so early and clearly; this says so last. It catches
// the write that has passed Transport and then had to wait: for a connection, for
// its turn on one, or because the process was frozen just there.
func (f *Fence) Dial(next Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			// When the process ends, the kernel throws away what it could not
			// send so far, instead of sending it once the network is back.
			if err := tcp.SetLinger(0); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
		}
		return &connection{Conn: conn, fence: f}, nil
	}
}

type connection struct {
	net.Conn
	fence *Fence
}

// Write sends data, or nothing and the error of the closed fence.
func (c *connection) Write(data []byte) (int, error) {
	if err := c.fence.Check(); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}
