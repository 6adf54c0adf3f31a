package simulation

import (
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/pods"
)

// exactPods: a Pod is created only if its ReplicaSet has too few, by what is really there,
// lost answers, crashes and other leaders included.
//
// Tolerated: the loop may go by any size that the ReplicaSet has had since its cache was read;
// and what others did since then it cannot know: Pods that another process made (one
// that led before, whose request arrived late), and Pods whose labels or owner users changed. Nor
// can it know of one that its own request made so late that the Pod that it made of that name by the
// next request has come and gone.
func (c *checker) exactPods(s *syncing, pod *corev1.Pod) {
	rs := s.replicaSet
	if rs == nil || c.world.landing {
		return
	}
	count := int32(0)
	for _, other := range c.world.server.pods.rows {
		if belongs(other, rs) && c.couldKnow(s, other) {
			count++
		}
	}
	_, most := c.sizesSince(s.seen[1], rs)
	if count > most {
		c.fail("exact Pods", "ReplicaSet %s has %d Pods after %s was created, and never wanted more than %d", rs.Name, count, pod.Name, most)
	}
}

// couldKnow reports whether the loop knows that a Pod belongs to its ReplicaSet, or should:
// because its cache shows it or this same process made it.
func (c *checker) couldKnow(s *syncing, pod *corev1.Pod) bool {
	origin := c.origins[pod.UID]
	made := origin.process == s.process.number || origin.version <= s.seen[2]
	return made && c.touched[pod.UID] <= s.seen[2]
}

// originOf returns who created a Pod, as far as that process can know.
func (c *checker) originOf(by *writer, ch change[*corev1.Pod]) origin {
	hadBeen := func(before change[*corev1.Pod]) bool { return before.new == nil && before.name() == ch.name() }
	if c.world.landing && slices.ContainsFunc(c.world.server.pods.log, hadBeen) {
		return origin{version: ch.version}
	}
	return origin{by.sync.process.number, ch.version}
}

// sizesSince returns the smallest and the largest size that a ReplicaSet has had since a
// version of the API server.
func (c *checker) sizesSince(version int64, rs *appsv1.ReplicaSet) (least, most int32) {
	least, most = size(rs), size(rs)
	log := c.world.server.replicaSets.log
	for i := len(log) - 1; i >= 0 && log[i].version > version; i-- {
		if changed := log[i].new; changed != nil && changed.UID == rs.UID {
			least, most = min(least, size(changed)), max(most, size(changed))
		}
	}
	return least, most
}

// onlyOwnPods: no Pod is deleted but by the loop for the ReplicaSet that controls it and
// selects it, in the version that was looked at.
func (c *checker) onlyOwnPods(s *syncing, pod *corev1.Pod) {
	if s.replicaSet == nil || controllerOf(pod) != s.replicaSet.UID {
		c.fail("only own Pods", "Pod %s of %q was deleted for ReplicaSet %s", pod.Name, controllerOf(pod), s.key.Name)
		return
	}
	if !matches(s.replicaSet.Spec.Selector, pod.Labels) {
		c.fail("only own Pods", "Pod %s was deleted for ReplicaSet %s, whose selector does not match it", pod.Name, s.key.Name)
	}
}

// adoptsForTheLiving: an object is adopted only if nobody controls it, and only for an owner that
// the API server has shown just before, under the same UID and not being deleted: an owner that
// is going would take it along.
//
// Tolerated: what becomes of the owner between that answer and the adoption.
func adoptsForTheLiving[T object](c *checker, s *syncing, ch change[T]) {
	owner := controllerOf(ch.new)
	if owner == "" || owner == controllerOf(ch.old) {
		return
	}
	switch {
	case controllerOf(ch.old) != "":
		c.fail("adopts for the living", "%s was taken from %s for %s", ch.new.GetName(), controllerOf(ch.old), s.key.Name)
	case s.live == nil || s.live.GetUID() != owner:
		c.fail("adopts for the living", "%s was adopted for %s, and the API server has not shown an owner of UID %s", ch.new.GetName(), s.key.Name, owner)
	case s.live.GetDeletionTimestamp() != nil:
		c.fail("adopts for the living", "%s was adopted for %s, which the API server has shown to be on its way out", ch.new.GetName(), s.key.Name)
	}
}

// noNeedlessDelete: a Pod is deleted only if there are too many, by all that the loop
// knows: its cache, and the Pods that this process has deleted already.
//
// Tolerated: the loop may go by any size that the ReplicaSet has had since its cache was read; and
// a delete that is carried out after it was given up on is nobody's own.
func (c *checker) noNeedlessDelete(s *syncing) {
	if s.replicaSet == nil || c.world.landing {
		return
	}
	left := int32(0)
	for _, pod := range s.active {
		if c.deleted[pod.UID] != s.process.number {
			left++
		}
	}
	if least, _ := c.sizesSince(s.seen[1], s.replicaSet); left < least {
		c.fail("no needless delete", "ReplicaSet %s is left with %d Pods, and never wanted fewer than %d", s.key.Name, left, least)
	}
}

// leastUsefulFirst: no Pod is deleted while the loop knows of one of the same ReplicaSet that is
// of less use: one on no node, or not running, or not ready, or cheaper.
//
// Tolerated: when all go there is no order; a Pod that has changed unseen, or of which the API
// server says so, cannot be deleted by the version that was seen; and a delete that was not answered is repeated for the same
// Pod, whatever has become of the others.
func (c *checker) leastUsefulFirst(s *syncing, victim *corev1.Pod) {
	if s.replicaSet == nil || c.world.landing || size(s.replicaSet) == 0 || c.tried[victim.UID] > 1 {
		return
	}
	for _, pod := range s.active {
		unchanged := c.world.server.pods.get(pod.Name) == pod && c.tried[pod.UID] == 0
		if unchanged && pod.UID != victim.UID && slices.Compare(use(pod), use(victim)) < 0 {
			c.fail("the least useful go first", "Pod %s was deleted, and %s is of less use", victim.Name, pod.Name)
		}
	}
}

// use says how useful a Pod is, by one criterion after the other.
func use(pod *corev1.Pod) []int {
	is := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	running := 0
	switch pod.Status.Phase {
	case corev1.PodUnknown:
		running = 1
	case corev1.PodRunning:
		running = 2
	}
	cost, _ := strconv.Atoi(pod.Annotations[corev1.PodDeletionCost])
	return []int{is(pod.Spec.NodeName != ""), running, is(readiness(pod) == corev1.ConditionTrue), cost}
}

// countsWhatIsThere: the status of a ReplicaSet counts the Pods that the loop saw, and calls
// available those that have been ready for minReadySeconds.
func (c *checker) countsWhatIsThere(s *syncing, rs *appsv1.ReplicaSet) {
	if s.replicaSet == nil || c.world.landing {
		return
	}
	var active, ready, available, terminating int32
	for _, pod := range s.active {
		active++
		if readiness(pod) == corev1.ConditionTrue {
			ready++
			age := s.now.Sub(pod.Status.Conditions[0].LastTransitionTime.Time)
			if wait := s.replicaSet.Spec.MinReadySeconds; wait == 0 || age >= time.Duration(wait)*time.Second {
				available++
			}
		}
	}
	for _, pod := range s.terminating {
		if matches(s.replicaSet.Spec.Selector, pod.Labels) {
			terminating++
		}
	}
	if r := rs.Status; r.Replicas != active || r.ReadyReplicas != ready || r.AvailableReplicas != available || *r.TerminatingReplicas != terminating {
		c.fail("counts what is there", "ReplicaSet %s reports %d Pods, %d ready, %d available, %d terminating; it saw %d, %d, %d, %d",
			rs.Name, r.Replicas, r.ReadyReplicas, r.AvailableReplicas, *r.TerminatingReplicas, active, ready, available, terminating)
	}
}

// countPods returns how many Pods of a ReplicaSet are active, how many of these are ready, and
// how many run or may run.
func (c *checker) countPods(rs *appsv1.ReplicaSet) (active, ready, running int) {
	for _, pod := range c.world.server.pods.rows {
		if controllerOf(pod) != rs.UID {
			continue
		}
		if belongs(pod, rs) {
			active++
			if pods.IsReady(pod) {
				ready++
			}
		}
		if !pods.IsTerminal(pod) {
			running++
		}
	}
	return active, ready, running
}
