package worker

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Backoff spaces out tries of something that was refused, object by object. The queue does that
// for a whole sync, but not for long: every event about the object, that of our own
// status write included, wakes its key before the queue would. It is safe for
// concurrent use. The zero Backoff is ready for use.
type Backoff struct {
	mu    sync.Mutex
	tries map[types.NamespacedName]refusals
}

type refusals struct {
	of    version // what was refused: another thing starts anew
	count int
	next  time.Time
}

// version is what was wanted of an object at a time.
type version struct {
	uid        types.UID
	generation int64
}

// Left returns how long to wait before the next try for an object; 0 if it may be now. A fix
// is tried at once: once somebody has changed what is wanted, nothing was refused yet.
func (b *Backoff) Left(object metav1.Object, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if refused, known := b.tries[keyOf(object)]; known && refused.of == wanted(object) {
		return max(0, refused.next.Sub(now))
	}
	return 0
}

// Refused notes that a try was refused. The wait doubles each time.
func (b *Backoff) Refused(object metav1.Object, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	refused := b.tries[keyOf(object)]
	if of := wanted(object); refused.of != of {
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
	b.tries[keyOf(object)] = refused
}

// Hurry moves the next try for an object to that time, if it was to be later and may be moved,
// and reports whether it was. If that try is refused too, the wait after it is as long as if
// it had been made in its time.
func (b *Backoff) Hurry(key types.NamespacedName, at time.Time, may func() bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	refused, known := b.tries[key]
	if !known || !refused.next.After(at) || !may() {
		return false
	}
	refused.next = at
	b.tries[key] = refused
	return true
}

// PutOff notes that there is to be no try before a time.
func (b *Backoff) PutOff(object metav1.Object, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tries == nil {
		b.tries = map[types.NamespacedName]refusals{}
	}
	b.tries[keyOf(object)] = refusals{of: wanted(object), next: until}
}

// Forget notes that a try has worked, or that the object is gone.
func (b *Backoff) Forget(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tries, key)
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// wanted changes when somebody changes what is wanted of an object, or makes it anew.
func wanted(object metav1.Object) version {
	return version{object.GetUID(), object.GetGeneration()}
}
