package simulation

import (
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"
)

var replicasFlag = flag.Int("replicas", 2, "how many replicas there are at most in the searches of TestExhaustive in which more happens than a rollout")

// TestExhaustive visits every state that a rollout from one ReplicaSet to another can be in, for
// up to three replicas and every pair of maxSurge and maxUnavailable, whatever the order in
// which the loops work, caches read, Pods get ready and requests fail. In each state the
// bounds hold, and from each the end can be reached by nothing but what goes on by itself.
//
// That is so for a rollout in which nothing else happens. Where something does, at any moment and
// once, the states are too many for three replicas: those searches begin with up to two (-replicas)
// and, but for the Pod that is lost, have caches that read all that there is when they read.
// What is left out besides: what happens while the ReplicaSet loop is in the middle of its
// requests; more than one version between what a cache shows and the present; more than one
// thing that happens, Recreate, and more than two ReplicaSets. The random schedules have all of these.
func TestExhaustive(t *testing.T) {
	for name, search := range map[string]struct {
		most int
		events
	}{
		"a rollout":                                     {3, events{lag: true}},
		"an undo in the middle":                         {*replicasFlag, events{undo: true}},
		"a new size from 1 to 3 in the middle":          {*replicasFlag, events{resize: true}},
		"a Pod that fails, is lost or is ready no more": {*replicasFlag, events{lose: true, lag: true}},
	} {
		t.Run(name, func(t *testing.T) { explore(t, search.most, search.events) })
	}
}

// rolloutOf says which one a search is about.
type rolloutOf struct{ replicas, surge, unavailable int }

// explore searches all rollouts of up to so many replicas, on all processors.
func explore(t *testing.T, most int, what events) {
	begun := time.Now()
	work := make(chan rolloutOf)
	var lock sync.Mutex
	total, searches := 0, 0
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for r := range work {
				w := walk{model: newModel(r.surge, r.unavailable, what)}
				w.run(w.model.first(int8(r.replicas)))
				lock.Lock()
				total, searches = total+len(w.all), searches+1
				if w.fault != "" {
					t.Errorf("%d replicas, maxSurge %d, maxUnavailable %d: %s", r.replicas, r.surge, r.unavailable, w.fault)
				}
				lock.Unlock()
			}
		})
	}
	for _, r := range rollouts(most) {
		work <- r
	}
	close(work)
	group.Wait()
	t.Logf("%d states in %d searches, %s", total, searches, time.Since(begun).Round(time.Millisecond))
}

// rollouts returns those of up to so many replicas, the large ones first.
func rollouts(most int) []rolloutOf {
	var all []rolloutOf
	for replicas := most; replicas > 0; replicas-- {
		for surge := replicas; surge >= 0; surge-- {
			for unavailable := replicas; unavailable >= 0; unavailable-- {
				if surge+unavailable > 0 { // the API server refuses nothing for both
					all = append(all, rolloutOf{replicas, surge, unavailable})
				}
			}
		}
	}
	return all
}
