package simulation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// model is a rollout so small that all its states can be visited. Both cores are the real ones;
// of the shells and of the cluster it has what matters for the bounds: each loop waits until
// its cache shows what it has written itself; all else in a cache may be old; a write to
// what has changed meanwhile is refused; and a list of writes may end after any of them.
type model struct {
	events
	most, least [4]int8 // by size: what may be asked for in all, and what must be ready
	cores
	fault string // what a step did that none may do
}

// events is what happens besides a rollout that goes on.
type events struct {
	undo   bool // users change the template to that of the other ReplicaSet, as often as they like
	resize bool // users change the size to any from 1 to 3, as often as they like
	lose   bool // a Pod fails, is lost, or is ready no more; another one not before all is well again
	lag    bool // a cache may show a version between the one that it shows and the present
}

// state is the Deployment and its two ReplicaSets.
type state struct {
	Sets                 [2]set
	Current, SeenCurrent int8 // whose template the Deployment has, and has in the cache of its loop
	Size, SeenSize       int8 // how many Pods it wants, and by that cache
	Then                 write
	Happened             bool // what may happen once
	Promised             promised
}

// write is what a sync of the Deployment loop is still about to write, if there is something.
type write struct {
	Due     bool
	Set, To int8
	For     int8 // the size of the Deployment that was decided on
	Scaling bool // whether a new size is shared out
}

// set is a ReplicaSet as it is, and as the caches show it.
type set struct {
	There      bool
	Wants, For int8 // its size, and that of the Deployment that it was made for
	Pods       podCount
	Status     status
	SeenStatus cached[status]   // by the Deployment loop
	SeenWants  cached[int8]     // by the ReplicaSet loop
	SeenPods   cached[podCount] // by the ReplicaSet loop
}

// podCount counts Pods. Settled tells of a cache that it shows all that the ReplicaSet loop has done.
type podCount struct {
	Pending, Ready int8
	Settled        bool
}

func (p podCount) all() int8 { return p.Pending + p.Ready }

// status is what a ReplicaSet says of its Pods.
type status struct{ Has, Available int8 }

// newModel returns a model in which users want what the fenceposts say.
func newModel(surge, unavailable int, what events) *model {
	m := &model{events: what}
	for n := range m.most {
		d := newDeployment("web", "v1", int32(n))
		d.Spec.Strategy = rolling(intstr.FromInt(surge), intstr.FromInt(unavailable))
		d.Spec.RevisionHistoryLimit = nil // then nothing is deleted
		most, least := bounds(d)
		m.most[n], m.least[n] = int8(most), int8(least)
		m.deployments[n] = d
	}
	m.decided, m.scaled = map[decisionOn][]write{}, map[scalingOn]scaling{}
	return m
}

// first is the state in which the template has just been changed.
func (m *model) first(n int8) state {
	return state{
		Sets: [2]set{resting(n), {SeenPods: cached[podCount]{Shows: podCount{Settled: true}}, Pods: podCount{Settled: true}}},
		Size: n, SeenSize: n, Current: 1, SeenCurrent: 1, Promised: promised{Least: m.least[n]},
	}
}

// resting is a ReplicaSet that is as it should be, and everybody knows.
func resting(n int8) set {
	all := podCount{Ready: n, Settled: true}
	return set{
		There: true, Wants: n, For: n, Pods: all, Status: status{n, n},
		SeenStatus: cached[status]{Shows: status{n, n}}, SeenWants: cached[int8]{Shows: n}, SeenPods: cached[podCount]{Shows: all},
	}
}

// isEnd reports whether the rollout is complete and everybody knows.
func (s *state) isEnd() bool {
	if s.Current != s.SeenCurrent || s.Size != s.SeenSize || s.Then.Due {
		return false
	}
	other := &s.Sets[1-s.Current]
	return s.Sets[s.Current] == resting(s.Size) && (!other.There || *other == resting(0))
}

// steps returns the states that can come next by themselves.
func (m *model) steps(s state) []state {
	var after []state
	if s.Then.Due {
		after = m.goesOn(s)
	} else {
		after = m.deploymentSyncs(s)
		t := s
		t.SeenCurrent, t.SeenSize = s.Current, s.Size
		after = append(after, t)
	}
	for i := range s.Sets {
		if s.Sets[i].There {
			after = append(after, m.stepsOf(s, i)...)
		}
	}
	return m.settled(after, s)
}

// stepsOf returns the states after a step that concerns one ReplicaSet.
func (m *model) stepsOf(s state, i int) []state {
	var after []state
	t, x := s, &s.Sets[i]
	for _, t.Sets[i].SeenStatus = range x.SeenStatus.reads(x.Status) {
		after = append(after, t)
	}
	t = s
	for _, t.Sets[i].SeenWants = range x.SeenWants.reads(x.Wants) {
		after = append(after, t)
	}
	t = s
	for _, t.Sets[i].SeenPods = range x.SeenPods.reads(x.Pods) {
		after = append(after, t)
	}
	if x.Pods.Pending > 0 {
		after = append(after, m.podsBecome(s, i, podCount{x.Pods.Pending - 1, x.Pods.Ready + 1, true})...)
	}
	return append(after, m.replicaSetSyncs(s, i)...)
}

// podsBecome returns the states after a change of Pods that is not the ReplicaSet loop's.
func (m *model) podsBecome(s state, i int, become podCount) []state {
	var after []state
	x := s.Sets[i]
	s.Sets[i].Pods = become
	for _, s.Sets[i].SeenPods = range x.SeenPods.overtaken(m.lag, become, x.Pods) {
		after = append(after, s)
	}
	return after
}

// happenings returns the states that can come next by what users and faults do.
func (m *model) happenings(s state) []state {
	if s.Happened {
		return nil
	}
	s.Happened = true
	var after []state
	if m.undo {
		t := s
		t.Current = 1 - s.Current
		after = append(after, t)
	}
	for n := int8(1); m.resize && n <= 3; n++ {
		t := s
		t.Size = n
		t.Promised.newSize(m.least[n])
		after = append(after, t)
	}
	for i := range s.Sets {
		if !m.lose {
			break
		}
		t, p := s, s.Sets[i].Pods
		t.Promised.Lost = true
		if p.Ready > 0 {
			after = append(after, m.podsBecome(t, i, podCount{p.Pending, p.Ready - 1, true})...)
			after = append(after, m.podsBecome(t, i, podCount{p.Pending + 1, p.Ready - 1, true})...)
		}
		if p.Pending > 0 {
			after = append(after, m.podsBecome(t, i, podCount{p.Pending - 1, p.Ready, true})...)
		}
	}
	return m.settled(after, s)
}

// settled takes out what is no step, and forgets what no longer matters.
func (m *model) settled(after []state, before state) []state {
	for i := range after {
		if after[i].isEnd() {
			after[i].Promised = promised{Least: m.least[after[i].Size]}
		}
	}
	return slices.DeleteFunc(after, func(t state) bool { return t == before })
}

// String tells a state in one line.
func (s state) String() string {
	text := fmt.Sprintf("%d Pods of %s wanted (seen: %d of %s)", s.Size, imageNumber(int(s.Current)), s.SeenSize, imageNumber(int(s.SeenCurrent)))
	for i := range s.Sets {
		if x := &s.Sets[i]; x.There {
			text += fmt.Sprintf("; %s has size %d (for %d, seen %s) and %s (seen %s), and says %s (seen %s)",
				imageNumber(i), x.Wants, x.For, x.SeenWants, x.Pods, x.SeenPods, x.Status, x.SeenStatus)
		}
	}
	if w := s.Then; w.Due {
		text += fmt.Sprintf("; about to give %s the size %d", imageNumber(int(w.Set)), w.To)
	}
	return text + fmt.Sprintf("; promised: %+v", s.Promised)
}

func (p podCount) String() string {
	text := fmt.Sprintf("%d+%d", p.Pending, p.Ready)
	if !p.Settled {
		text += " unsettled"
	}
	return text
}

func (s status) String() string { return fmt.Sprintf("%d/%d", s.Available, s.Has) }

func (c cached[T]) String() string {
	if c.Has {
		return fmt.Sprintf("%v, then perhaps %v", c.Shows, c.Between)
	}
	return fmt.Sprint(c.Shows)
}
