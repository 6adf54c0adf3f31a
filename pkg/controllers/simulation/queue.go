package simulation

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"controller-manager/pkg/controllers/worker"
)

type key = types.NamespacedName

// queue is a worker.Queue without goroutines, in the time of its world. It keeps the promises
// of client-go's: a key waits once however often it is added, is never handed out while it is
// being worked on, and comes again if it was added meanwhile.
type queue struct {
	clock      *clock
	waits      workqueue.TypedRateLimiter[key]
	ready      []key // in the order in which they were added
	dirty      []key // those added since they were last handed out
	processing []key
	timers     []timer // at most one for a key
}

type timer struct {
	at  time.Duration
	key key
}

func newQueue(c *clock) *queue { return &queue{clock: c, waits: worker.Retries()} }

// Add lets a key be worked on.
func (q *queue) Add(k key) {
	if slices.Contains(q.dirty, k) {
		return
	}
	q.dirty = append(q.dirty, k)
	if !slices.Contains(q.processing, k) {
		q.ready = append(q.ready, k)
	}
}

// AddAfter adds a key when the time has passed, by the clock that never jumps.
func (q *queue) AddAfter(k key, wait time.Duration) {
	if wait <= 0 {
		q.Add(k)
		return
	}
	at := q.clock.elapsed + wait
	i := slices.IndexFunc(q.timers, func(t timer) bool { return t.key == k })
	if i < 0 {
		q.timers = append(q.timers, timer{at, k})
		return
	}
	q.timers[i].at = min(q.timers[i].at, at)
}

// AddRateLimited adds a key that failed, after a wait that grows.
func (q *queue) AddRateLimited(k key) { q.AddAfter(k, q.waits.When(k)) }

// Forget ends the growth of a key's waits.
func (q *queue) Forget(k key) { q.waits.Forget(k) }

// NumRequeues returns how often in a row a key has failed.
func (q *queue) NumRequeues(k key) int { return q.waits.NumRequeues(k) }

// Len returns how many keys can be worked on.
func (q *queue) Len() int { return len(q.ready) }

// Get hands out the first key. The world asks only if there is one.
func (q *queue) Get() (key, bool) {
	k := q.ready[0]
	q.ready = q.ready[1:]
	q.dirty = without(q.dirty, k)
	q.processing = append(q.processing, k)
	return k, false
}

// Done tells that the work on a key has ended.
func (q *queue) Done(k key) {
	q.processing = without(q.processing, k)
	if slices.Contains(q.dirty, k) {
		q.ready = append(q.ready, k)
	}
}

// ShutDown does nothing: a process ends by being forgotten.
func (q *queue) ShutDown() {}

// ShutDownWithDrain does nothing.
func (q *queue) ShutDownWithDrain() {}

// ShuttingDown is never the case.
func (q *queue) ShuttingDown() bool { return false }

// first brings a key to the front, so that Get returns it.
func (q *queue) first(i int) {
	k := q.ready[i]
	q.ready = append([]key{k}, slices.Delete(slices.Clone(q.ready), i, i+1)...)
}

// due adds the keys whose time has come.
func (q *queue) due() {
	for i := 0; i < len(q.timers); {
		if t := q.timers[i]; t.at <= q.clock.elapsed {
			q.timers = slices.Delete(q.timers, i, i+1)
			q.Add(t.key)
			continue
		}
		i++
	}
}

// next returns when the earliest timer goes off, and false if none is set.
func (q *queue) next() (time.Duration, bool) {
	if len(q.timers) == 0 {
		return 0, false
	}
	return slices.MinFunc(q.timers, func(a, b timer) int { return int(a.at - b.at) }).at, true
}

func without(keys []key, k key) []key {
	return slices.DeleteFunc(keys, func(other key) bool { return other == k })
}
