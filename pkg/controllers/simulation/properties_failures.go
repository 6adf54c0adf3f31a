package simulation

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// chain is what became of Pods that one process made for a ReplicaSet: of the last ones, and of
// how many times before them, with no Pod there any more that was made before, all failed
// within a moment.
type chain struct {
	process *process
	jumps   int       // of its clock
	sync    *syncing  // that made the last ones
	made    time.Time // when that was, by its clock
	waves   int
	last    []types.UID
}

// aMoment is a second less than the 10 seconds that count, for what whole seconds leave open.
const aMoment = 9 * time.Second

// failuresAreSpacedOut: when all Pods of a ReplicaSet fail within seconds of their creation, and those
// that were made in their place did too, the next ones come 10 seconds after them, and then the
// pause doubles, up to 5 minutes.
//
// Tolerated: another process begins anew, and so does one that has seen a Pod for as long as that, be
// it somebody else's; and one whose clock is wrong, or was meanwhile, does not know how long Pods stay.
func (c *checker) failuresAreSpacedOut(s *syncing, pod *corev1.Pod) {
	owner := s.replicaSet.UID
	before := c.chains[owner]
	if before != nil && before.sync == s {
		before.last = append(before.last, pod.UID)
		return
	}
	now := s.process.clock.Now()
	next := &chain{process: s.process, jumps: s.process.clock.jumps, sync: s, made: now, last: []types.UID{pod.UID}}
	c.chains[owner] = next
	if before == nil || before.process != s.process || before.jumps != next.jumps || s.process.clock.offset != 0 || len(s.active) > 0 ||
		now.Sub(before.made) > 10*time.Minute || !before.hasFailed(s) {
		return
	}
	next.waves = before.waves + 1
	if next.waves < 2 {
		return
	}
	if passed, pause := now.Sub(before.made), wait(10*time.Second, 5*time.Minute, next.waves-1); passed < pause {
		c.fail("failures are spaced out", "Pod %s was made %s after those before it, which have failed as %d times before; the pause is %s",
			pod.Name, passed, next.waves-1, pause)
	}
}

// hasFailed reports whether the cache shows that all of the last Pods have failed at once.
func (b *chain) hasFailed(s *syncing) bool {
	failed := map[types.UID]bool{}
	for _, pod := range s.loop.caches.pods.rows {
		if controllerOf(pod) != s.replicaSet.UID || pod.Status.Phase != corev1.PodFailed {
			continue
		}
		ended := pod.CreationTimestamp.Time
		if len(pod.Status.ContainerStatuses) > 0 {
			end := pod.Status.ContainerStatuses[0].State.Terminated
			if end == nil {
				continue
			}
			ended = end.FinishedAt.Time
		}
		failed[pod.UID] = ended.Sub(pod.CreationTimestamp.Time) <= aMoment
	}
	for _, uid := range b.last {
		if !failed[uid] {
			return false
		}
	}
	return true
}

// stays ends a chain once the loop has seen a Pod for long, or one that it has not made.
func (c *checker) stays(s *syncing) {
	before := c.chains[s.replicaSet.UID]
	if before == nil || len(s.active) == 0 {
		return
	}
	long := s.now.Sub(before.made) >= aMoment
	for _, pod := range s.active {
		if long || c.origins[pod.UID].process != s.process.number {
			delete(c.chains, s.replicaSet.UID)
			return
		}
	}
}
