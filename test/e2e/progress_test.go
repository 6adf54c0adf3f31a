package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
)

// The tests in this file are about what the condition Progressing counts, and what it does not.

const complete, paused = "True NewReplicaSetAvailable", "Unknown DeploymentPaused"

// progressOf is the condition Progressing of a Deployment.
func progressOf(t *testing.T, st *story, name string) appsv1.DeploymentCondition {
	t.Helper()
	for _, condition := range st.deployments.now[name].Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return condition
		}
	}
	t.Fatalf("Deployment %s has no condition Progressing", name)
	return appsv1.DeploymentCondition{}
}

// untilObserved waits until the Deployment web was looked at as it is now.
func (s *space) untilObserved() *story {
	s.t.Helper()
	generation := s.deployment("web").Generation
	return s.untilDeployment("web", "to be looked at", func(d *appsv1.Deployment) string {
		if d.Status.ObservedGeneration < generation {
			return fmt.Sprintf("generation %d is observed, not %d", d.Status.ObservedGeneration, generation)
		}
		return ""
	})
}

// TestAPauseStopsTheClockOfTheDeadline: a Deployment that is not paused times out
// meanwhile, so more than the deadline has passed. kubernetes#36427.
func TestAPauseStopsTheClockOfTheDeadline(t *testing.T) {
	t.Parallel()
	const seconds = 4
	s := newSpace(t)
	s.create(newDeployment("web", 3, mode(localcluster.ModeNever)))
	s.untilEach("web:1=3")
	s.pause()
	s.edit("web", deadline(seconds))
	s.create(newDeployment("clock", 1, mode(localcluster.ModeNever), deadline(seconds)))
	st := s.untilCondition("clock", appsv1.DeploymentProgressing, timedOut)
	if wrong := wrongCondition(st.deployments.now["web"], appsv1.DeploymentProgressing, paused); wrong != "" {
		t.Errorf("while paused for longer than the deadline: %s", wrong)
	}

	s.kubectl("rollout", "resume", "deployment/web")
	resumed := progressOf(t, s.untilCondition("web", appsv1.DeploymentProgressing, "Unknown DeploymentResumed"), "web")
	expired := progressOf(t, s.untilCondition("web", appsv1.DeploymentProgressing, timedOut), "web")
	if waited := expired.LastUpdateTime.Sub(resumed.LastUpdateTime.Time); waited < seconds*time.Second {
		t.Errorf("it timed out %s after it was resumed, want %d s or more", waited, seconds)
	}

	s.kubectl("rollout", "pause", "deployment/web")
	if got := progressOf(t, s.untilObserved(), "web"); got != expired {
		t.Errorf("a pause has overwritten a deadline that had expired: %+v", got)
	}
}

// TestANewRolloutLongAfterTheLastIsNotTimedOut: what counts is the new rollout's own
// progress, not the success of the last one. kubernetes#49637, PR kubernetes#52127.
func TestANewRolloutLongAfterTheLastIsNotTimedOut(t *testing.T) {
	t.Parallel()
	newSpace(t).rollOutLongAfter()
}

// rollOutLongAfter lets several Deployments rest for longer than their progress deadline
// and then rolls each out, one of them back to what it had before.
func (s *space) rollOutLongAfter() {
	s.t.Helper()
	const seconds = 4
	next := map[string]string{"a": "web:2", "b": "web:2", "c": "web:2", "back": "web:1"}
	for name := range next {
		s.create(newDeployment(name, 2, deadline(seconds)))
	}
	s.complete("back")
	s.edit("back", image("web:2"))
	for name := range next {
		s.complete(name)
	}
	s.create(newDeployment("clock", 1, mode(localcluster.ModeNever), deadline(seconds)))
	s.untilCondition("clock", appsv1.DeploymentProgressing, timedOut)
	began := time.Now().Truncate(time.Second) // as the times in a status
	for name, image := range next {
		s.edit(name, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = image })
	}
	for name := range next {
		s.complete(name)
	}
	for _, sighting := range s.recorder.now().deployments.seen {
		for _, condition := range sighting.object.Status.Conditions {
			// Before, and later, it may be true: the machine can be that slow.
			after := condition.LastUpdateTime.Sub(began)
			early := after >= 0 && after < seconds*time.Second
			if name := sighting.object.Name; name != "clock" && condition.Reason == "ProgressDeadlineExceeded" && early {
				s.t.Errorf("Deployment %s, rolled out at %s, said at %s: %s", name, clock(began), clock(condition.LastUpdateTime.Time), condition.Message)
			}
		}
	}
}

// TestTheDeadlineExpiresWithoutAnyEventAndOnce: nothing happens to the Pod, so only a
// timer can tell; and once it has told, there is nothing more to write. That holds for a
// revision that is rolled back to as well. kubernetes#44657, #40207.
func TestTheDeadlineExpiresWithoutAnyEventAndOnce(t *testing.T) {
	t.Parallel()
	const seconds = 3
	s := newSpace(t)
	s.create(newDeployment("web", 1, mode(localcluster.ModeNever), deadline(seconds)))
	wantTimedOutAfter(t, s.untilCondition("web", appsv1.DeploymentProgressing, timedOut), seconds*time.Second)
	s.untilWritten()
	mark := s.lab.mark(t)
	s.untilWritten()
	s.wantNoWrites(mark)

	s.edit("web", image("web:2"), mode(""))
	s.complete("web")
	s.kubectl("rollout", "undo", "deployment/web")
	s.untilCondition("web", appsv1.DeploymentProgressing, timedOut)
	s.kubectl("rollout", "undo", "deployment/web")
	s.complete("web")
}

// TestPodsThatFailAfterTheRolloutAreAMatterOfAvailability: the condition Progressing is
// about rollouts only, and nothing is written that says nothing new. kubernetes#106054,
// #106697, PR kubernetes#93933.
func TestPodsThatFailAfterTheRolloutAreAMatterOfAvailability(t *testing.T) {
	t.Parallel()
	const available, unavailable = "True MinimumReplicasAvailable", "False MinimumReplicasUnavailable"
	s := newSpace(t)
	s.create(newDeployment("empty", 0, deadline(3), mode(localcluster.ModeNever)))
	s.complete("empty")
	s.create(newDeployment("web", 4, deadline(3)))
	st := s.complete("web")
	succeeded := progressOf(t, st, "web")
	pods := st.pods.present()
	s.untilWritten()
	mark := s.lab.mark(t)
	changes := 0
	change := func(pod *corev1.Pod, status corev1.ConditionStatus, ready int32) {
		t.Helper()
		changes++
		s.patchReady(pod.Name, status)
		s.untilAvailable(ready)
	}
	for i := range 3 {
		change(pods[i], corev1.ConditionFalse, int32(3-i))
	}
	s.untilCondition("web", appsv1.DeploymentAvailable, unavailable)
	for i := range 3 {
		change(pods[i], corev1.ConditionTrue, int32(2+i))
	}
	s.untilCondition("web", appsv1.DeploymentAvailable, available)
	for range 10 {
		change(pods[0], corev1.ConditionFalse, 3)
		change(pods[0], corev1.ConditionTrue, 4)
	}
	s.edit("empty", replicas(1)) // not even a size that is never reached is a rollout
	s.untilCondition("empty", appsv1.DeploymentAvailable, unavailable)
	s.create(newDeployment("clock", 1, mode(localcluster.ModeNever), deadline(3)))
	st = s.untilCondition("clock", appsv1.DeploymentProgressing, timedOut)
	if wrong := wrongCondition(st.deployments.now["empty"], appsv1.DeploymentProgressing, complete); wrong != "" {
		t.Error(wrong)
	}
	if got := progressOf(t, st, "web"); got != succeeded {
		t.Errorf("Progressing has become %+v, want it as it was after the rollout: %+v", got, succeeded)
	}
	s.wantTransitionsOnlyOfStatus()
	s.untilWritten()
	for resource, got := range s.statusWrites(mark) {
		if got > changes {
			t.Errorf("the status of the %s was written %d times for %d changes", resource, got, changes)
		}
	}
}

// untilAvailable waits until the Deployment web counts so many ready and available Pods.
func (s *space) untilAvailable(n int32) {
	s.t.Helper()
	s.untilDeployment("web", fmt.Sprintf("%d ready Pods", n), func(d *appsv1.Deployment) string {
		if d.Status.ReadyReplicas != n || d.Status.AvailableReplicas != n {
			return tellDeployment(d)
		}
		return ""
	})
}

// wantTransitionsOnlyOfStatus checks that a condition's lastTransitionTime moved only when
// its status changed.
func (s *space) wantTransitionsOnlyOfStatus() {
	s.t.Helper()
	last := map[string]appsv1.DeploymentCondition{}
	for _, sighting := range s.recorder.now().deployments.seen {
		for _, condition := range sighting.object.Status.Conditions {
			key := sighting.object.Name + " " + string(condition.Type)
			before, known := last[key]
			last[key] = condition
			if known && before.Status == condition.Status && !before.LastTransitionTime.Equal(&condition.LastTransitionTime) {
				s.t.Errorf("condition %s moved from %s to %s and stayed %s", key, before.LastTransitionTime, condition.LastTransitionTime, condition.Status)
			}
		}
	}
}

// statusWrites counts the writes that worked of the statuses of the Deployment web and its
// ReplicaSets, by resource.
func (s *space) statusWrites(since localcluster.AuditMark) map[string]int {
	s.t.Helper()
	written := map[string]int{}
	for _, write := range s.writes(since) {
		if write.Subresource == "status" && strings.HasPrefix(write.Name, "web") && write.Code < 300 {
			written[write.Resource]++
		}
	}
	return written
}
