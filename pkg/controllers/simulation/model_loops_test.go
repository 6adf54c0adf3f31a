package simulation

// deploymentSyncs returns the states after a sync of the Deployment loop. Of two writes that it
// decides on the second one comes later, or never.
func (m *model) deploymentSyncs(s state) []state {
	all := m.decide(&s)
	if len(all) == 0 || !s.shows(all[0]) {
		return nil
	}
	for _, w := range all {
		m.oldNeverGrows(&s, w)
		m.spareIsShrunk(&s, w)
	}
	if len(all) == 1 || !s.shows(all[1]) {
		return m.carriesOut(s, all[0], write{})
	}
	m.scalingGoesOneWay(&s, all[0], all[1])
	return m.carriesOut(s, all[0], all[1])
}

// shows reports whether the cache of the Deployment loop shows the ReplicaSet of a write as it
// is. Else the write is refused.
func (s *state) shows(w write) bool {
	x := &s.Sets[w.Set]
	return !x.There || x.SeenStatus == cached[status]{Shows: x.Status}
}

// goesOn returns the states after the second write of a sync, or after it has failed.
func (m *model) goesOn(s state) []state {
	failed := s
	failed.Then = write{}
	return append(m.carriesOut(s, s.Then, write{}), failed)
}

// carriesOut returns the states after a write of the Deployment loop. It decides again only
// when its cache shows this write, and so all that was before.
func (m *model) carriesOut(s state, w, then write) []state {
	x := &s.Sets[w.Set]
	m.surgeIsKept(&s, w)
	m.thereAndBack(&s, w)
	before := x.Wants
	x.There, x.Wants, x.For = true, w.To, w.For
	if w.To == 0 {
		x.For = 0 // nobody asks
	}
	for i := range s.Sets {
		s.Sets[i].SeenStatus = cached[status]{Shows: s.Sets[i].Status}
	}
	s.Then = then
	var after []state
	for _, seen := range x.SeenWants.overtaken(m.lag, w.To, before) {
		x.SeenWants = seen
		after = append(after, s)
	}
	return after
}

// replicaSetSyncs returns the states after a sync of the ReplicaSet loop, however far it got.
func (m *model) replicaSetSyncs(s state, i int) []state {
	x := s.Sets[i]
	act := m.scale(x.SeenWants.Shows, x.SeenPods.Shows)
	if act.create+act.deletePending+act.deleteReady == 0 {
		return m.reports(s, i, act.status)
	}
	x.SeenPods.Shows.Settled, x.SeenPods.Between.Settled = false, false
	var after []state
	for _, versions := range act.carriedOut(x.Pods) {
		last := len(versions) - 1
		s.Sets[i].Pods = versions[last]
		s.Sets[i].Pods.Settled = true
		for _, s.Sets[i].SeenPods = range x.SeenPods.overtaken(m.lag, s.Sets[i].Pods, versions[:last]...) {
			after = append(after, s)
			after = append(after, m.reports(s, i, act.status)...)
		}
	}
	return after
}

// carriedOut returns what may become of the Pods, each with all versions from before on. No
// version shows all that was done but the last.
func (act scaling) carriedOut(before podCount) [][]podCount {
	before.Settled = false
	var ways [][]podCount
	// A Pod that has become ready unseen, or is lost, is not the one any more that was chosen.
	for pending := range min(act.deletePending, before.Pending) + 1 {
		for ready := range min(act.deleteReady, before.Ready) + 1 {
			for created := range act.create + 1 {
				now, versions := before, []podCount{before}
				step := func(count int8, change func()) {
					for range count {
						change()
						versions = append(versions, now)
					}
				}
				step(pending, func() { now.Pending-- })
				step(ready, func() { now.Ready-- })
				step(created, func() { now.Pending++ })
				ways = append(ways, versions)
			}
		}
	}
	return ways
}

// reports returns the states after the ReplicaSet loop has written a status. It is refused if
// the ReplicaSet has changed.
func (m *model) reports(s state, i int, now status) []state {
	x := &s.Sets[i]
	if x.SeenWants != (cached[int8]{Shows: x.Wants}) || x.Status == now {
		return nil
	}
	before := x.Status
	x.Status = now
	if int(s.Then.Set) == i {
		s.Then = write{} // it will be refused
	}
	var after []state
	for _, seen := range x.SeenStatus.overtaken(m.lag, now, before) {
		x.SeenStatus = seen
		after = append(after, s)
	}
	return after
}
