package simulation

import "fmt"

// promised is what holds of the Pods that are ready, until the rollout is complete again.
type promised struct {
	Least  int8 // how many must be, at least
	Lost   bool // but for one that was lost
	Excuse bool // whether that is not promised any more
}

// newSize: a Deployment that has become larger need not have at once what it has not had before.
func (p *promised) newSize(least int8) { p.Least = min(p.Least, least) }

// thereAndBack is what is tolerated once a write is carried out: a ReplicaSet that was made smaller,
// and larger again by an undo before that was carried out and reported, or is not seen yet by the
// loop that did it, reports Pods as available that are condemned or gone, and the Deployment
// loop believes it. The random schedules tolerate the same.
func (m *model) thereAndBack(s *state, w write) {
	x := &s.Sets[w.Set]
	if m.undo && w.To > x.Wants && max(x.Pods.all(), x.Status.Has, x.SeenPods.Shows.all(), x.SeenPods.Between.all()) > x.Wants {
		s.Promised.Excuse = true
	}
}

// availabilityIsKept: never are fewer Pods ready than must be.
func (m *model) availabilityIsKept(s *state) {
	ready, least := s.Sets[0].Pods.Ready+s.Sets[1].Pods.Ready, s.Promised.Least
	if s.Promised.Lost {
		least--
	}
	if ready < least && !s.Promised.Excuse {
		m.fault = fmt.Sprintf("%d Pods are ready, and %d must be", ready, least)
	}
}

// exactPods: no ReplicaSet has more Pods than all ReplicaSets together may ever ask for.
func (m *model) exactPods(s *state) {
	most := m.most[s.Size]
	if m.resize {
		most = m.most[len(m.most)-1]
	}
	for i := range s.Sets {
		if all := s.Sets[i].Pods.all(); all > most {
			m.fault = fmt.Sprintf("%s has %d Pods, and no more than %d were ever asked for", imageNumber(i), all, most)
		}
	}
}

// spareIsShrunk: a rollout takes ready Pods only as far as more are reported than must be, those
// that are condemned already left out.
func (m *model) spareIsShrunk(s *state, w write) {
	var before, after int8
	for i := range s.Sets {
		x := &s.Sets[i]
		before += min(x.SeenStatus.Shows.Available, x.Wants)
		wants := x.Wants
		if i == int(w.Set) {
			wants = w.To
		}
		after += min(x.SeenStatus.Shows.Available, wants)
	}
	if least := m.least[w.For]; w.To < s.Sets[w.Set].Wants && !w.Scaling && after < min(before, least) {
		m.fault = fmt.Sprintf("%d of %d Pods that are known to be ready are still asked for, and %d must be", after, before, least)
	}
}

// surgeIsKept: nothing is made larger than maxSurge allows over all, by the size that is known.
func (m *model) surgeIsKept(s *state, w write) {
	asked, most := w.To+s.Sets[1-w.Set].Wants, m.most[w.For]
	if w.To > s.Sets[w.Set].Wants && asked > most {
		m.fault = fmt.Sprintf("%d Pods are asked for, and %d may be", asked, most)
	}
}

// oldNeverGrows: a rollout never makes an old ReplicaSet larger. A new size is shared out.
func (m *model) oldNeverGrows(s *state, w write) {
	if w.Set != s.SeenCurrent && w.To > s.Sets[w.Set].Wants && !w.Scaling {
		m.fault = fmt.Sprintf("the old ReplicaSet grows from %d to %d", s.Sets[w.Set].Wants, w.To)
	}
}

// scalingGoesOneWay: where a new size is shared out, not one ReplicaSet grows and the other shrinks.
func (m *model) scalingGoesOneWay(s *state, a, b write) {
	grow, grows := a.To-s.Sets[a.Set].Wants, b.To-s.Sets[b.Set].Wants
	if a.Scaling && grow*grows < 0 {
		m.fault = "of a new size one ReplicaSet grows, and the other shrinks"
	}
}
