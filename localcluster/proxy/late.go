package proxy

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"sync"
	"time"
)

// later is an action that passes the parts of an answer on in order, each when due
// returns for the time at which it was received. An error of due, whose context ends when the
// client goes, ends the answer.
func later(due func(ctx context.Context, received time.Time) error) Action {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			late := &lateWriter{ctx: r.Context(), to: w, due: due, header: http.Header{}}
			late.arrived.L = &late.mu
			passed := make(chan struct{})
			go func() {
				defer close(passed)
				late.passOn()
			}()
			// An answer that breaks off breaks off for the client too, after what came before.
			defer func() {
				late.end()
				<-passed
			}()
			next.ServeHTTP(late, r)
		})
	}
}

// lateWriter is a ResponseWriter that keeps what is written to it for a while.
type lateWriter struct {
	ctx    context.Context // of the request, which is as long as this lives
	to     http.ResponseWriter
	due    func(ctx context.Context, received time.Time) error
	header http.Header

	mu      sync.Mutex
	arrived sync.Cond // parts or ended have changed
	parts   []part
	ended   bool // no more parts come
}

// part is a piece of an answer, with its status before the first.
type part struct {
	received time.Time
	code     int
	header   http.Header
	body     []byte
}

// Header is what the next WriteHeader sends.
func (l *lateWriter) Header() http.Header { return l.header }

// WriteHeader takes the status and the header.
func (l *lateWriter) WriteHeader(code int) {
	l.add(part{received: time.Now(), code: code, header: l.header.Clone()})
}

// Write takes a piece of the body.
func (l *lateWriter) Write(body []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	l.add(part{received: time.Now(), body: bytes.Clone(body)})
	return len(body), nil
}

// Flush does nothing: each part is flushed when it is passed on.
func (l *lateWriter) Flush() {}

func (l *lateWriter) add(p part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = append(l.parts, p)
	l.arrived.Signal()
}

func (l *lateWriter) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.arrived.Signal()
}

// next waits for the next part; false if there is none.
func (l *lateWriter) next() (part, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.parts) == 0 && !l.ended {
		l.arrived.Wait()
	}
	if len(l.parts) == 0 {
		return part{}, false
	}
	first := l.parts[0]
	l.parts = l.parts[1:]
	return first, true
}

// passOn hands the parts to the client until there are no more or it has gone.
func (l *lateWriter) passOn() {
	for {
		p, more := l.next()
		if !more || l.due(l.ctx, p.received) != nil {
			return
		}
		if p.code != 0 {
			maps.Copy(l.to.Header(), p.header)
			l.to.WriteHeader(p.code)
		} else if _, err := l.to.Write(p.body); err != nil {
			return
		}
		// A client that has gone is noticed by the next write.
		_ = http.NewResponseController(l.to).Flush()
	}
}
