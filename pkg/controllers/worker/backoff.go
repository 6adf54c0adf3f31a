package worker

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Backoff spaces out tries of something that was refused, key by key. The queue does that
// for a whole sync, but not for long: every event about the object, that of our own
// status write included, wakes its key before the queue would. It is safe for
// concurrent use. The zero Backoff is ready for use.
type Backoff struct {
	mu    sync.Mutex
	tries map[types.NamespacedName]refusals
}

type refusals struct {
	of    string // what was refused: another thing starts anew
	count int
	next  time.Time
}

// Left returns how long to wait before the next try; 0 if it may be now. What is tried is
// named by a string that changes when somebody changes what is wanted (a UID and a
// generation), so that a fix is tried at once.
func (b *Backoff) Left(key types.NamespacedName, of string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if refused, known := b.tries[key]; known && refused.of == of {
		return max(0, refused.next.Sub(now))
	}
	return 0
}

// Refused notes that a try was refused. The wait doubles each time.
func (b *Backoff) Refused(key types.NamespacedName, of string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	refused := b.tries[key]
	if refused.of != of {
		refused = refusals{of: of}
	}
	wait := longestRetry
	if refused.count < 16 { // beyond that the shift would only get longer than the longest
		wait = min(wait, firstRetry<<refused.count)
	}
	refused.count++
	refused.next = now.Add(wait)
	if b.tries == nil {
		b.tries = map[types.NamespacedName]refusals{}
	}
	b.tries[key] = refused
}

// Forget notes that a try has worked, or that the object is gone.
func (b *Backoff) Forget(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tries, key)
}
