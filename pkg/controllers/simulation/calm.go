package simulation

import "time"

// The bounds of the calm after the storm: far more than it ever takes.
const (
	mostSyncs = 20_000
	mostTime  = 24 * time.Hour
)

// calm lets users and faults rest, and everything else go on until nothing happens any more.
func (w *World) calm() {
	w.tell("world", "users and faults rest")
	w.server.quota, w.server.admission = 0, admitsAll
	w.trouble, w.between = ahead{}, ahead{}
	for len(w.inFlight) > 0 {
		w.land(0)
	}
	w.offset = 0
	if w.process == nil {
		w.start(0)
	}
	// A clock that is set right wakes nobody; the resync that comes every few hours does.
	w.process.clock.set(0)
	for _, r := range w.readers() {
		r.resync()
	}
	syncs, until := w.Syncs+mostSyncs, w.clock.elapsed+mostTime
	for w.check.violation == nil {
		if w.Syncs > syncs || w.clock.elapsed > until {
			w.check.fail("eventually stable", "after %d syncs and %s there is still something to do", mostSyncs, mostTime)
			return
		}
		if w.goOn() {
			continue
		}
		at, set := w.timer()
		if !set {
			w.check.eventuallyStable()
			return
		}
		w.pass(max(0, at-w.clock.elapsed))
	}
}

// goOn makes a step of everything that has one to make, and reports whether something had.
func (w *World) goOn() bool {
	before := w.Events
	for _, r := range w.readers() {
		w.read(r, r.lag(), false)
	}
	w.syncAll()
	for i := 0; i < len(w.server.pods.rows); {
		pod := w.server.pods.rows[i]
		w.advance(pod)
		if i < len(w.server.pods.rows) && w.server.pods.rows[i].Name == pod.Name {
			i++
		}
	}
	w.collect()
	return w.Events != before
}
