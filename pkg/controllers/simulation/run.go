package simulation

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Result is what came of one schedule.
type Result struct {
	Tally
	// Violation is the property that did not hold; nil if all did.
	Violation *Violation
	// Story is what happened, line by line; nil if nobody asked for it.
	Story []string
}

// Run carries a schedule out, and then lets users and faults rest until nothing happens any
// more. It stops at the first violation.
func Run(schedule []Action) Result { return run(newWorld(schedule)) }

// Tell is Run with the story of it.
func Tell(schedule []Action) Result {
	w := newWorld(schedule)
	s := &story{world: w}
	w.narrator = s
	result := run(w)
	result.Story = s.lines
	return result
}

func run(w *World) Result {
	w.run()
	if w.check.violation == nil {
		w.calm()
	}
	w.Schedules = 1
	return Result{Tally: w.Tally, Violation: w.check.violation}
}

// Failure is a seed whose schedule violates a property.
type Failure struct {
	Seed uint64
	*Violation
}

// Explore runs the schedules of the seeds from first on with so many workers, until more
// returns false. It returns the failures, at most as many as it is to look for.
func Explore(first uint64, workers, failures int, more func() bool) (Tally, []Failure) {
	var next atomic.Uint64
	var lock sync.Mutex
	var total Tally
	var found []Failure
	full := func() bool {
		lock.Lock()
		defer lock.Unlock()
		return len(found) >= failures
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			var tally Tally
			for more() && !full() {
				seed := first + next.Add(1) - 1
				result := Run(Generate(seed))
				tally.add(result.Tally)
				if result.Violation != nil {
					lock.Lock()
					found = append(found, Failure{seed, result.Violation})
					lock.Unlock()
				}
			}
			lock.Lock()
			defer lock.Unlock()
			total.add(tally)
		})
	}
	group.Wait()
	return total, found
}

// Shrink returns a schedule that violates the same property and from which nothing can be
// taken away any more (delta debugging): ever smaller pieces are left out, as long
// as what is left fails in the same way.
func Shrink(schedule []Action, property string) []Action {
	fails := func(candidate []Action) bool {
		v := Run(candidate).Violation
		return v != nil && v.Property == property
	}
	for piece := len(schedule) / 2; piece > 0; {
		smaller := false
		for from := 0; from < len(schedule); {
			to := min(from+piece, len(schedule))
			candidate := append(schedule[:from:from], schedule[to:]...)
			if fails(candidate) {
				schedule, smaller = candidate, true
			} else {
				from = to
			}
		}
		if !smaller || piece > len(schedule) {
			piece /= 2
		}
	}
	return schedule
}

// Text returns the story as one text.
func (r Result) Text() string { return strings.Join(r.Story, "\n") + "\n" }
