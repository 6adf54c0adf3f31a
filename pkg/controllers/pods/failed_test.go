package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHowAPodHasFailed(t *testing.T) {
	made := now.Add(-time.Hour)
	stamp := func(d time.Duration) metav1.Time { return metav1.NewTime(made.Add(d)) }
	ends := func(at ...time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			for _, d := range at {
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
					State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: stamp(d)}},
				})
			}
		}
	}
	lost := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "ContainerStatusUnknown"}},
		}}
	}
	runs := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	setUp := func(pod *corev1.Pod) {
		ends(time.Minute)(pod)
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
	}
	says := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Status.Reason, pod.Status.Message = reason, message }
	}
	target := func(status corev1.ConditionStatus) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: status, LastTransitionTime: stamp(time.Second), Reason: "DeletionByTaintManager", Message: "a taint",
			})
		}
	}
	type edits = []func(*corev1.Pod)
	tests := map[string]struct {
		phase  corev1.PodPhase
		edits  edits
		failed bool
		after  time.Duration // its creation; below 0 if nobody can tell
		cause  string
	}{
		"it runs":                             {corev1.PodRunning, edits{runs}, false, -1, ""},
		"it has ended well":                   {corev1.PodSucceeded, edits{ends(time.Minute)}, false, time.Minute, ""},
		"the kubelet has refused it":          {corev1.PodFailed, edits{says("NodeAffinity", "no")}, true, 0, "NodeAffinity: no"},
		"it was evicted later":                {corev1.PodFailed, edits{says("Evicted", ""), ends(time.Minute, 2*time.Minute)}, true, 2 * time.Minute, "Evicted"},
		"it failed while it was set up":       {corev1.PodFailed, edits{says("", "no"), setUp}, true, time.Minute, "no"},
		"it ran, and nobody knows until when": {corev1.PodFailed, edits{runs}, true, -1, ""},
		"it restarted, and nobody knows more": {corev1.PodFailed, edits{restarted}, true, -1, ""},
		"a container was lost":                {corev1.PodFailed, edits{lost}, true, 0, ""},
		"a taint takes it away":               {corev1.PodRunning, edits{runs, target(corev1.ConditionTrue)}, true, time.Second, "DeletionByTaintManager: a taint"},
		"it was not taken away after all":     {corev1.PodRunning, edits{runs, target(corev1.ConditionFalse)}, false, -1, ""},
		"it was evicted for a reason":         {corev1.PodFailed, edits{says("Evicted", ""), target(corev1.ConditionTrue)}, true, time.Second, "Evicted"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newPod(test.phase, test.edits...)
			pod.CreationTimestamp = stamp(0)
			for what, pod := range map[string]*corev1.Pod{"whole": pod, "trimmed": Trim(pod)} {
				failed := HasFailed(pod)
				if failed != test.failed {
					t.Errorf("%s: has failed: %v", what, failed)
				}
				if !failed {
					continue
				}
				at, known := FailedAt(pod)
				if known != (test.after >= 0) || known && !at.Equal(made.Add(test.after)) {
					t.Errorf("%s: failed at %s (%v)", what, at, known)
				}
				if got := CauseOfFailure(pod); got != test.cause {
					t.Errorf("%s: cause %q", what, got)
				}
			}
		})
	}
}
