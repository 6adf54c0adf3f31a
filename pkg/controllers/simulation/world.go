package simulation

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// World is a cluster in which nothing happens but what a schedule says, and the same again
// whenever the schedule is the same.
type World struct {
	clock   clock
	offset  time.Duration // of the clocks of processes that start
	server  *server
	process *process // the leader; nil while there is none

	user, kubelet, collector writer
	wishes                   []wish

	schedule  []Action // what is still to come
	depth     int      // how many requests are on their way
	inFlight  []func() error
	trouble   ahead // the fault
	between   ahead // how many actions happen meanwhile
	plain     bool  // nothing unlikely happens by itself
	landing   bool  // a request is carried out that its sender has given up on
	processes int
	names     uint32 // of Pods that were thought of
	steps     int    // for choices that take turns

	check    *checker
	narrator narrator // nil if nobody listens

	Tally
}

// Tally counts what happened in a world.
type Tally struct {
	Schedules, Events, Syncs, Writes int
	Faults                           [numberOfFaults]int
	Done                             [numberOfOperations]int
}

// add sums up.
func (t *Tally) add(other Tally) {
	t.Schedules += other.Schedules
	t.Events += other.Events
	t.Syncs += other.Syncs
	t.Writes += other.Writes
	for i, n := range other.Faults {
		t.Faults[i] += n
	}
	for i, n := range other.Done {
		t.Done[i] += n
	}
}

func newWorld(schedule []Action) *World {
	w := &World{schedule: schedule, wishes: wishes()}
	w.user, w.kubelet, w.collector = writer{name: "user"}, writer{name: "kubelet"}, writer{name: "garbage collector"}
	w.server = newServer(&w.clock)
	w.check = newChecker(w)
	w.server.deployments.changed = func(by *writer, c change[*appsv1.Deployment]) {
		w.written(by)
		w.tellDeployment(by, c)
		w.check.deployment(by, c)
	}
	w.server.replicaSets.changed = func(by *writer, c change[*appsv1.ReplicaSet]) {
		w.written(by)
		w.tellReplicaSet(by, c)
		w.check.replicaSet(by, c)
	}
	w.server.pods.changed = func(by *writer, c change[*corev1.Pod]) {
		w.written(by)
		w.tellPod(by, c)
		w.check.pod(by, c)
	}
	return w
}

func (w *World) written(by *writer) {
	w.Events++
	if by.sync != nil {
		w.Writes++
	}
}

func (w *World) count(f fault) {
	w.Faults[f]++
	w.Events++
}

// run carries out the schedule, until it ends or a property is violated.
func (w *World) run() {
	for len(w.schedule) > 0 && w.check.violation == nil {
		w.perform(w.take())
	}
}

func (w *World) take() Action {
	a := w.schedule[0]
	w.schedule = w.schedule[1:]
	return a
}

// meanwhile lets other things happen while a request of a sync is on its way.
func (w *World) meanwhile(count int) {
	if w.depth == deepest {
		return
	}
	w.depth++
	for range count {
		if len(w.schedule) > 0 && w.check.violation == nil {
			w.perform(w.take())
		}
	}
	w.depth--
}

// deepest is how many requests can be on their way at once.
const deepest = 3

// land carries out a request whose sender has given up on it.
func (w *World) land(i int) {
	do := w.inFlight[i]
	w.inFlight = append(w.inFlight[:i:i], w.inFlight[i+1:]...)
	w.tell("fault", "a request that was given up on arrives")
	w.landing = true
	_ = do() // nobody hears of it
	w.landing = false
}

// pass lets time pass.
func (w *World) pass(d time.Duration) {
	w.clock.elapsed += d
	w.Events++
	if w.process != nil {
		for _, l := range w.process.loops {
			l.queue.due()
		}
	}
}

// timer returns when the next key comes up by itself.
func (w *World) timer() (time.Duration, bool) {
	var next time.Duration
	found := false
	if w.process != nil {
		for _, l := range w.process.loops {
			if at, set := l.queue.next(); set && (!found || at < next) {
				next, found = at, true
			}
		}
	}
	return next, found
}

// readers returns the caches of the leader.
func (w *World) readers() []reader {
	if w.process == nil {
		return nil
	}
	return append(w.process.loops[0].caches.readers(), w.process.loops[1].caches.readers()...)
}

// read lets a cache read on, change by change or at once.
func (w *World) read(r reader, count int, atOnce bool) {
	count = min(count, r.lag())
	if count == 0 {
		return
	}
	w.Events += count
	w.tell("cache", "%s reads %d changes", r.name(), count)
	if atOnce {
		r.relist(count)
		return
	}
	r.read(count)
}
