package simulation

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// sampling is how many syncs pass between two whose decisions are looked at twice.
const sampling = 64

// remember looks at some of the syncs twice. It returns what is to be called after the sync.
func (c *checker) remember(s *syncing) (untouched func()) {
	if c.samples++; c.samples%sampling != 0 {
		return func() {}
	}
	if s.deployment != nil {
		c.decisionsSettle(s)
	}
	return c.cachesAreLeftAlone(s)
}

// cachesAreLeftAlone: a sync changes nothing of what its caches hold, which the other loop and
// the next sync share.
func (c *checker) cachesAreLeftAlone(s *syncing) func() {
	seen := rollout.Snapshot{
		Deployment: s.deployment, ReplicaSets: append(slices.Clone(s.sets), s.replicaSet), Pods: map[types.UID][]*corev1.Pod{"": s.active},
	}
	kept := copied(seen)
	return func() {
		if !alike(kept, seen) {
			c.fail("caches are left alone", "a sync of the %s for %s changed what its cache holds", s.loop.name, s.key.Name)
		}
	}
}

// decisionsSettle: a decision does not change what it is made on. Deciding anew on what came of it
// gives nothing to do, but for the next step where one has been taken (see followsOn); over and
// over it ends with nothing to do, and resizes no ReplicaSet up and then down again or
// the other way round.
func (c *checker) decisionsSettle(s *syncing) {
	snapshot := rollout.Snapshot{Deployment: s.deployment, ReplicaSets: s.sets, Now: s.process.clock.Now(), Pods: map[types.UID][]*corev1.Pod{}}
	for _, pod := range s.loop.caches.pods.rows {
		snapshot.Pods[controllerOf(pod)] = append(snapshot.Pods[controllerOf(pod)], pod)
	}
	direction := map[string]int{}
	var before rollout.Plan
	for range 2*len(s.sets) + 6 {
		kept := copied(snapshot)
		plan, err := rollout.Decide(snapshot)
		if err != nil {
			c.fail("decisions settle", "Deployment %s: %v", s.deployment.Name, err)
			return
		}
		if !alike(kept, snapshot) {
			c.fail("decisions change nothing", "a decision on Deployment %s changed its input", s.deployment.Name)
		}
		if plan.Empty() || plan.Rollback != nil {
			return
		}
		if !before.Empty() && !followsOn(snapshot, before, plan) {
			c.fail("decisions settle", "Deployment %s: deciding anew on what came of a plan that %s gives one that %s", s.deployment.Name, inShort(before), inShort(plan))
		}
		before = plan
		for _, ch := range plan.Change {
			from, to, resizes := ch.Resizes()
			if plan.Scaling {
				continue // the rollout goes on from there, either way
			}
			if resizes && direction[ch.Observed.Name]*int(to-from) < 0 {
				c.fail("decisions settle", "ReplicaSet %s is resized one way and then back, from %d to %d", ch.Observed.Name, from, to)
			}
			if resizes {
				direction[ch.Observed.Name] = int(to - from)
			}
		}
		snapshot.ReplicaSets = applied(snapshot.ReplicaSets, plan)
	}
	c.fail("decisions settle", "Deployment %s: still something to do after deciding %d times", s.deployment.Name, 2*len(s.sets)+6)
}

// followsOn reports whether a plan is the next step after one that was carried out in full:
//
//   - a rollout goes on once a new size is shared out;
//   - old ReplicaSets shrink once the new one has grown or shrunk, which comes first, and the new
//     one grows once they have made room;
//   - of Recreate, the new ReplicaSet gets its size once the old ones are made to shrink, if they
//     have no Pods;
//   - what is beyond the history limit goes when all else is done.
func followsOn(s rollout.Snapshot, before, plan rollout.Plan) bool {
	if before.Scaling || len(plan.Delete) > 0 && plan.Create == nil && len(plan.Change) == 0 {
		return true
	}
	grew, shrank := directions(before)
	grows, shrinks := directions(plan)
	if s.Deployment.Spec.Strategy.RollingUpdate == nil {
		return shrank && (grows && !shrinks || plan.Scaling)
	}
	return grew && shrinks || shrank && (grows || shrinks)
}

// directions reports whether a plan makes some ReplicaSet larger, and some smaller.
func directions(plan rollout.Plan) (grows, shrinks bool) {
	grows = plan.Create != nil
	for _, ch := range plan.Change {
		from, to, _ := ch.Resizes()
		grows, shrinks = grows || to > from, shrinks || to < from
	}
	return grows, shrinks
}

// inShort says what a plan does.
func inShort(plan rollout.Plan) string {
	text := fmt.Sprintf("creates %t, deletes %d, and changes", plan.Create != nil, len(plan.Delete))
	for _, ch := range plan.Change {
		from, to, _ := ch.Resizes()
		text += fmt.Sprintf(" %s from %d to %d (%s),", ch.Observed.Name, from, to, ch.Why)
	}
	return text
}

func alike(a, b rollout.Snapshot) bool {
	return apiequality.Semantic.DeepEqual(a.Deployment, b.Deployment) && apiequality.Semantic.DeepEqual(a.ReplicaSets, b.ReplicaSets) &&
		apiequality.Semantic.DeepEqual(a.Pods, b.Pods)
}

// applied returns the ReplicaSets as a plan makes them.
func applied(sets []*appsv1.ReplicaSet, plan rollout.Plan) []*appsv1.ReplicaSet {
	var after []*appsv1.ReplicaSet
	for _, rs := range sets {
		if slices.ContainsFunc(plan.Delete, func(d rollout.Deletion) bool { return d.ReplicaSet == rs }) {
			continue
		}
		if i := slices.IndexFunc(plan.Change, func(ch rollout.ReplicaSetChange) bool { return ch.Observed == rs }); i >= 0 {
			rs = plan.Change[i].Desired
		}
		after = append(after, rs)
	}
	if plan.Create != nil {
		created := shallow(plan.Create.ReplicaSet)
		created.UID = types.UID(fmt.Sprintf("made-%d", len(after)))
		after = append(after, created)
	}
	return after
}

// copied returns a snapshot that shares nothing with the original.
func copied(s rollout.Snapshot) rollout.Snapshot {
	s.Deployment = s.Deployment.DeepCopy()
	s.ReplicaSets = slices.Clone(s.ReplicaSets)
	for i, rs := range s.ReplicaSets {
		s.ReplicaSets[i] = rs.DeepCopy()
	}
	pods := map[types.UID][]*corev1.Pod{}
	for uid, all := range s.Pods {
		pods[uid] = slices.Clone(all)
		for i, pod := range all {
			pods[uid][i] = pod.DeepCopy()
		}
	}
	s.Pods = pods
	return s
}
