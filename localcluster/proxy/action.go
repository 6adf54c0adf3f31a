package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Action is what happens to a request; next sends it on to the API server.
type Action func(next http.Handler) http.Handler

// Delay sends the request on after a time, unless the client has given up by then.
func Delay(d time.Duration) Action {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if pause(r.Context(), d) != nil {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// DelayAnswer sends the request on at once. Each part of the answer, of a watch each
// event, reaches the client so much later than it reached the proxy.
func DelayAnswer(d time.Duration) Action {
	return later(func(ctx context.Context, received time.Time) error {
		return pause(ctx, time.Until(received.Add(d)))
	})
}

// Hold sends the request on at once, and keeps what comes back while the gate is shut: of
// a watch the events, which arrive together when it opens.
func Hold(gate *Gate) Action {
	return later(func(ctx context.Context, _ time.Time) error { return gate.pass(ctx) })
}

// HoldRequest keeps the request itself while the gate is shut: the API server hears of it when it opens,
// unless the client has given up by then.
func HoldRequest(gate *Gate) Action {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gate.pass(r.Context()) != nil {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Drop breaks the request off before the API server hears of it.
func Drop() Action {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}
}

// LoseAnswer sends the request on, whatever the client does meanwhile, and breaks off
// when the answer is there.
func LoseAnswer() Action {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(nowhere{header: http.Header{}}, detached(r))
			panic(http.ErrAbortHandler)
		})
	}
}

// CutAfter breaks the answer off once so many parts of it were passed on: of a watch so
// many events, or more where several came together.
func CutAfter(parts int) Action {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&cut{ResponseWriter: w, left: parts}, r)
		})
	}
}

// Answer gives an answer of the proxy's own, such as apierrors.NewTooManyRequests makes;
// the API server does not hear of the request.
func Answer(answer *apierrors.StatusError) Action {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			status := answer.Status()
			status.Kind, status.APIVersion = "Status", "v1"
			if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(int(status.Code))
			_ = json.NewEncoder(w).Encode(status) // the client may have gone
		})
	}
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nowhere takes an answer that nobody will read.
type nowhere struct{ header http.Header }

// Header is written and not read.
func (n nowhere) Header() http.Header { return n.header }

// WriteHeader does nothing.
func (n nowhere) WriteHeader(int) {}

// Write takes all and keeps nothing.
func (n nowhere) Write(part []byte) (int, error) { return len(part), nil }

// Flush does nothing.
func (n nowhere) Flush() {}

// cut passes on some parts of an answer and then breaks off.
type cut struct {
	http.ResponseWriter
	left int
}

// Write passes a part on, if any is left.
func (c *cut) Write(part []byte) (int, error) {
	if c.left == 0 {
		return 0, http.ErrAbortHandler
	}
	c.left--
	return c.ResponseWriter.Write(part)
}

// Unwrap is for http.ResponseController, which flushes what this writes.
func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }
