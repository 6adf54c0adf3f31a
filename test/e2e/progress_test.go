package e2e

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file are about what the condition Progressing counts, and what it does not.

const complete, paused = "True NewReplicaSetAvailable", "Unknown DeploymentPaused"

// progressOf is the condition Progressing of a Deployment.
func progressOf(t *testing.T, st *lab.Story, name string) appsv1.DeploymentCondition {
	t.Helper()
	for _, condition := range st.Deployments.Now[name].Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return condition
		}
	}
	t.Fatalf("Deployment %s has no condition Progressing", name)
	return appsv1.DeploymentCondition{}
}

// TestAPauseStopsTheClockOfTheDeadline: a Deployment that is not paused times out
// meanwhile, so more than the deadline has passed. kubernetes#36427.
func TestAPauseStopsTheClockOfTheDeadline(t *testing.T) {
	t.Parallel()
	const seconds = 4
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.Mode(localcluster.ModeNever)))
	s.UntilEach("web:1=3")
	s.pause()
	s.Edit("web", lab.Deadline(seconds))
	s.Create(lab.NewDeployment("clock", 1, lab.Mode(localcluster.ModeNever), lab.Deadline(seconds)))
	st := s.UntilCondition("clock", appsv1.DeploymentProgressing, timedOut)
	if wrong := lab.WrongCondition(st.Deployments.Now["web"], appsv1.DeploymentProgressing, paused); wrong != "" {
		t.Errorf("while paused for longer than the deadline: %s", wrong)
	}

	s.Kubectl("rollout", "resume", "deployment/web")
	resumed := progressOf(t, s.UntilCondition("web", appsv1.DeploymentProgressing, "Unknown DeploymentResumed"), "web")
	expired := progressOf(t, s.UntilCondition("web", appsv1.DeploymentProgressing, timedOut), "web")
	if waited := expired.LastUpdateTime.Sub(resumed.LastUpdateTime.Time); waited < seconds*time.Second {
		t.Errorf("it timed out %s after it was resumed, want %d s or more", waited, seconds)
	}

	s.Kubectl("rollout", "pause", "deployment/web")
	if got := progressOf(t, s.UntilObserved(), "web"); got != expired {
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
	s.T.Helper()
	const seconds = 4
	next := map[string]string{"a": "web:2", "b": "web:2", "c": "web:2", "back": "web:1"}
	for name := range next {
		s.Create(lab.NewDeployment(name, 2, lab.Deadline(seconds)))
	}
	s.Complete("back")
	s.Edit("back", lab.Image("web:2"))
	for name := range next {
		s.Complete(name)
	}
	s.Create(lab.NewDeployment("clock", 1, lab.Mode(localcluster.ModeNever), lab.Deadline(seconds)))
	s.UntilCondition("clock", appsv1.DeploymentProgressing, timedOut)
	began := time.Now().Truncate(time.Second) // as the times in a status
	for name, image := range next {
		s.Edit(name, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = image })
	}
	for name := range next {
		s.Complete(name)
	}
	for _, sighting := range s.Recorder.Now().Deployments.Seen {
		for _, condition := range sighting.Object.Status.Conditions {
			// Before, and later, it may be true: the machine can be that slow.
			after := condition.LastUpdateTime.Sub(began)
			early := after >= 0 && after < seconds*time.Second
			if name := sighting.Object.Name; name != "clock" && condition.Reason == "ProgressDeadlineExceeded" && early {
				s.T.Errorf("Deployment %s, rolled out at %s, said at %s: %s", name, lab.Clock(began), lab.Clock(condition.LastUpdateTime.Time), condition.Message)
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
	s.Create(lab.NewDeployment("web", 1, lab.Mode(localcluster.ModeNever), lab.Deadline(seconds)))
	wantTimedOutAfter(t, s.UntilCondition("web", appsv1.DeploymentProgressing, timedOut), seconds*time.Second)
	s.UntilWritten()
	mark := s.Lab.Mark(t)
	s.UntilWritten()
	s.WantNoWrites(mark)

	s.Edit("web", lab.Image("web:2"), lab.Mode(""))
	s.Complete("web")
	s.Kubectl("rollout", "undo", "deployment/web")
	s.UntilCondition("web", appsv1.DeploymentProgressing, timedOut)
	s.Kubectl("rollout", "undo", "deployment/web")
	s.Complete("web")
}

// TestPodsThatFailAfterTheRolloutAreAMatterOfAvailability: the condition Progressing is
// about rollouts only, and nothing is written that says nothing new. kubernetes#106054,
// #106697, PR kubernetes#93933.
func TestPodsThatFailAfterTheRolloutAreAMatterOfAvailability(t *testing.T) {
	t.Parallel()
	const available, unavailable = "True MinimumReplicasAvailable", "False MinimumReplicasUnavailable"
	s := newSpace(t)
	s.Create(lab.NewDeployment("empty", 0, lab.Deadline(3), lab.Mode(localcluster.ModeNever)))
	s.Complete("empty")
	s.Create(lab.NewDeployment("web", 4, lab.Deadline(3)))
	st := s.Complete("web")
	succeeded := progressOf(t, st, "web")
	pods := st.Pods.Present()
	s.UntilWritten()
	mark := s.Lab.Mark(t)
	changes := 0
	change := func(pod *corev1.Pod, status corev1.ConditionStatus, ready int32) {
		t.Helper()
		changes++
		s.PatchReady(pod.Name, status)
		s.untilAvailable(ready)
	}
	for i := range 3 {
		change(pods[i], corev1.ConditionFalse, int32(3-i))
	}
	s.UntilCondition("web", appsv1.DeploymentAvailable, unavailable)
	for i := range 3 {
		change(pods[i], corev1.ConditionTrue, int32(2+i))
	}
	s.UntilCondition("web", appsv1.DeploymentAvailable, available)
	for range 10 {
		change(pods[0], corev1.ConditionFalse, 3)
		change(pods[0], corev1.ConditionTrue, 4)
	}
	s.Edit("empty", lab.Replicas(1)) // not even a size that is never reached is a rollout
	s.UntilCondition("empty", appsv1.DeploymentAvailable, unavailable)
	s.Create(lab.NewDeployment("clock", 1, lab.Mode(localcluster.ModeNever), lab.Deadline(3)))
	st = s.UntilCondition("clock", appsv1.DeploymentProgressing, timedOut)
	if wrong := lab.WrongCondition(st.Deployments.Now["empty"], appsv1.DeploymentProgressing, complete); wrong != "" {
		t.Error(wrong)
	}
	if got := progressOf(t, st, "web"); got != succeeded {
		t.Errorf("Progressing has become %+v, want it as it was after the rollout: %+v", got, succeeded)
	}
	s.wantTransitionsOnlyOfStatus()
	s.UntilWritten()
	for resource, got := range s.StatusWrites(mark) {
		if got > changes {
			t.Errorf("the status of the %s was written %d times for %d changes", resource, got, changes)
		}
	}
}

// untilAvailable waits until the Deployment web counts so many ready and available Pods.
func (s *space) untilAvailable(n int32) {
	s.T.Helper()
	s.UntilDeployment("web", fmt.Sprintf("%d ready Pods", n), func(d *appsv1.Deployment) string {
		if d.Status.ReadyReplicas != n || d.Status.AvailableReplicas != n {
			return lab.TellDeployment(d)
		}
		return ""
	})
}

// wantTransitionsOnlyOfStatus checks that a condition's lastTransitionTime moved only when
// its status changed.
func (s *space) wantTransitionsOnlyOfStatus() {
	s.T.Helper()
	last := map[string]appsv1.DeploymentCondition{}
	for _, sighting := range s.Recorder.Now().Deployments.Seen {
		for _, condition := range sighting.Object.Status.Conditions {
			key := sighting.Object.Name + " " + string(condition.Type)
			before, known := last[key]
			last[key] = condition
			if known && before.Status == condition.Status && !before.LastTransitionTime.Equal(&condition.LastTransitionTime) {
				s.T.Errorf("condition %s moved from %s to %s and stayed %s", key, before.LastTransitionTime, condition.LastTransitionTime, condition.Status)
			}
		}
	}
}
