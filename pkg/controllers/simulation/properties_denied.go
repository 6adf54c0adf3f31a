package simulation

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// denial is what the quota had no room for: a Pod of a ReplicaSet, in the version of it that
// a process saw.
type denial struct {
	process    int
	owner      types.UID
	generation int64
}

// denials are those in a row.
type denials struct {
	count  int
	last   time.Time     // by the clock of the process
	passed time.Duration // by that clock, back and forth
	early  int           // tries that were made sooner than because of the wait
}

// asked notes what came of a request for a Pod.
//
// denialsAreSpacedOut: as long as the quota has no room the tries are ever fewer. From one to
// the next it is 5 ms and twice as long each time, and in the end 25 seconds; but 3 tries may
// come sooner, because a Pod has gone, and one more each minute.
//
// Tolerated: a ReplicaSet that users change is tried at once, and so it is by a process that has just
// started.
func (c *checker) asked(s *syncing, pod, created *corev1.Pod, err error) {
	if s == nil || s.replicaSet == nil || c.world.landing {
		return
	}
	d := denial{s.process.number, s.replicaSet.UID, s.replicaSet.Generation}
	if !apierrors.IsForbidden(err) {
		delete(c.denied, d)
		if err == nil {
			c.failuresAreSpacedOut(s, created)
		}
		return
	}
	now := s.process.clock.Now()
	before := c.denied[d]
	if before == nil {
		c.denied[d] = &denials{count: 1, last: now}
		return
	}
	gap := now.Sub(before.last)
	before.passed += gap.Abs()
	if gap < wait(5*time.Millisecond, 25*time.Second, before.count) {
		before.early++
	}
	before.count++
	before.last = now
	if most := 3 + int(before.passed/time.Minute); before.early > most {
		c.fail("denials are spaced out", "Pod %s was asked for %d times in %s, %d times of them too early", pod.Name, before.count, before.passed, before.early)
	}
}

// wait is the n-th of waits that double, up to the longest.
func wait(first, longest time.Duration, n int) time.Duration {
	for range n - 1 {
		if first *= 2; first >= longest {
			return longest
		}
	}
	return first
}
