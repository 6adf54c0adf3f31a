package simulation

import (
	"math/rand/v2"
	"time"
)

// Operation is a kind of action.
type Operation uint8

// What can happen in a world.
const (
	opRound     Operation = iota // caches, loops and Pods get a little further, all of them
	opRead                       // a cache reads on
	opRelist                     // a cache reads on, and sees only what came of it
	opSync                       // a loop works on a key
	opPods                       // a Pod gets further
	opTrouble                    // something bad happens to a Pod
	opUser                       // a user does something
	opCollect                    // the garbage collector does something
	opClock                      // time passes
	opJump                       // the clock of the leader jumps
	opArrive                     // a request that was given up on is carried out
	opCrash                      // the leader dies
	opStart                      // another process leads
	opQuota                      // the quota for Pods changes
	opAdmission                  // admission begins to change the templates of ReplicaSets, or ends it
	opEnd                        // the namespace is deleted
	opCreate                     // a user creates a Deployment
	opFault                      // the next request, or one soon after, meets a fault
	opMeanwhile                  // while it is on its way the actions that follow happen
	numberOfOperations
)

func (o Operation) String() string {
	if o >= numberOfOperations {
		return "nothing"
	}
	return [numberOfOperations]string{"round", "read", "relist", "sync", "pods", "trouble", "user", "collect", "clock", "jump",
		"arrive", "crash", "start", "quota", "admission", "end", "create", "fault", "meanwhile"}[o]
}

// Action is one thing that happens. What its numbers mean depends on the world that it happens
// in, so that a schedule stays one when actions are taken out of it.
type Action struct {
	Op   Operation
	A, B uint16
}

// weights says how likely each operation is; most of the time things just go on.
func weights() [numberOfOperations]int {
	return [numberOfOperations]int{
		opRound: 60, opRead: 280, opRelist: 10, opSync: 280, opPods: 220, opTrouble: 12, opUser: 40, opCollect: 30,
		opClock: 50, opJump: 2, opArrive: 10, opCrash: 4, opStart: 5, opQuota: 2, opAdmission: 2, opEnd: 0, opCreate: 4, opFault: 40, opMeanwhile: 40,
	}
}

// Generate returns the schedule of a seed. No seed has every kind of trouble: what is left out
// lets the rest get further (swarm testing).
func Generate(seed uint64) []Action {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 0x5eed))} //nolint:gosec // to be the same again is the point
	g.weights = weights()
	for _, op := range []Operation{opTrouble, opUser, opJump, opRelist, opArrive, opCrash, opStart, opQuota, opAdmission, opClock, opFault, opMeanwhile} {
		if g.IntN(3) == 0 {
			g.weights[op] = 0
		}
	}
	if g.IntN(50) == 0 {
		g.weights[opEnd] = 2
	}
	for i := range g.wishes {
		g.wishes[i] = g.IntN(2) == 0
	}
	for i := range g.faults {
		g.faults[i] = g.IntN(2) == 0
	}

	schedule := []Action{{Op: opCreate, A: uint16(g.IntN(1 << 16)), B: uint16(g.IntN(1 << 16))}, {Op: opStart}}
	for range 40 + g.IntN(300) {
		schedule = append(schedule, g.action())
	}
	return schedule
}

// generator makes the actions of one schedule.
type generator struct {
	*rand.Rand
	weights [numberOfOperations]int
	wishes  [numberOfWishes]bool // which ones users have
	faults  [numberOfFaults]bool // which ones requests meet

}

func (g *generator) action() Action {
	a := Action{Op: g.operation(), A: uint16(g.Uint32()), B: uint16(g.Uint32())}
	switch a.Op {
	case opUser:
		for !g.wishes[int(a.A)%numberOfWishes] && g.IntN(8) > 0 {
			a.A = uint16(g.Uint32())
		}
		if g.IntN(3) == 0 {
			a.A -= a.A % numberOfWishes // the first of them scales, the second begins a rollout
			a.A += uint16(g.IntN(2))
		}
	case opFault:
		for !g.faults[int(a.A)%int(numberOfFaults)] && g.IntN(8) > 0 {
			a.A = uint16(g.Uint32())
		}
	}
	return a
}

func (g *generator) operation() Operation {
	total := 0
	for _, weight := range g.weights {
		total += weight
	}
	at := g.IntN(total)
	for op, weight := range g.weights {
		if at -= weight; at < 0 {
			return Operation(op)
		}
	}
	return opRound
}

// perform lets an action happen, as far as it can.
func (w *World) perform(a Action) {
	w.Done[a.Op]++
	switch a.Op {
	case opRound:
		w.round()
	case opRead, opRelist:
		w.readSome(int(a.A), int(a.B), a.Op == opRelist)
	case opSync:
		w.syncSome(int(a.A))
	case opPods:
		if pods := w.server.pods.rows; len(pods) > 0 {
			w.advanceFrom(int(a.A))
		}
	case opTrouble:
		if pods := w.server.pods.rows; len(pods) > 0 {
			w.befall(pods[int(a.A)%len(pods)], int(a.B)%12)
		}
	case opUser:
		w.wish(int(a.A), int(a.B))
	case opCollect:
		w.collect()
	default:
		w.performRare(a)
	}
}

func (w *World) performRare(a Action) {
	switch a.Op {
	case opClock:
		w.passSome(int(a.A))
	case opJump:
		if w.process != nil {
			clear(w.check.quiet)
			w.process.clock.set([4]time.Duration{0, time.Hour, -time.Hour, -2 * time.Second}[a.A%4])
		}
	case opArrive:
		if len(w.inFlight) > 0 {
			w.land(int(a.A) % len(w.inFlight))
		}
	case opCrash:
		w.crash()
	case opStart:
		w.handOver(int(a.A))
	case opQuota:
		w.server.quota = int(a.A) % 8
		w.tell("fault", "the quota is %d Pods (0: none)", w.server.quota)
	case opAdmission:
		w.server.admission = admission(a.A % 3)
		w.tell("fault", "admission %s", w.server.admission)
	case opEnd:
		w.server.terminating = true
		w.tell("fault", "the namespace is being deleted")
	case opCreate:
		w.create(int(a.A), int(a.B))
	case opFault:
		w.trouble = ahead{what: int(a.A) % int(numberOfFaults), skip: int(a.B) % 4}
	case opMeanwhile:
		w.between = ahead{what: 1 + int(a.A)%6, skip: int(a.B) % 4}
	}
}
