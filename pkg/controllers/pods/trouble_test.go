package pods

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// unscheduledPod has the condition that the scheduler sets.
func unscheduledPod(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available",
	}}
}

func waiting(container, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "for 7s"}}}
}

func containers(statuses ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = statuses }
}

func TestTrouble(t *testing.T) {
	restarts := corev1.ContainerStatus{Name: "app", RestartCount: 1}
	tests := map[string]struct {
		pod  *corev1.Pod
		want Trouble
	}{
		"a Pod that is ready":    {newPod(corev1.PodRunning, readySince(now), containers(restarts)), Trouble{}},
		"one that was just made": {newPod(corev1.PodPending), Trouble{}},
		"one that runs":          {newPod(corev1.PodRunning), Trouble{Kind: NotReady}},
		"one without a node":     {newPod(corev1.PodPending, unscheduledPod), Trouble{Kind: Unscheduled, Reason: "Unschedulable", Message: "0/3 nodes are available"}},
		"its image is not there": {newPod(corev1.PodPending, containers(waiting("app", "ImagePullBackOff"))), Trouble{Kind: Waiting, Container: "app", Reason: "ImagePullBackOff"}},
		"it has just been tried": {newPod(corev1.PodPending, containers(waiting("app", "ErrImagePull"))), Trouble{Kind: Waiting, Container: "app", Reason: "ImagePullBackOff"}},
		"its container crashes":  {newPod(corev1.PodRunning, containers(waiting("app", "CrashLoopBackOff"))), Trouble{Kind: Restarting, Container: "app", Reason: "CrashLoopBackOff"}},
		"and runs for a moment":  {newPod(corev1.PodRunning, containers(restarts)), Trouble{Kind: Restarting, Container: "app", Reason: "CrashLoopBackOff"}},
		"it is being set up":     {newPod(corev1.PodPending, containers(waiting("app", "ContainerCreating"))), Trouble{}},
		"the others are set up":  {newPod(corev1.PodPending, containers(waiting("app", "PodInitializing"))), Trouble{}},
		"the second one waits":   {newPod(corev1.PodPending, containers(corev1.ContainerStatus{Name: "app"}, waiting("log", "CreateContainerConfigError"))), Trouble{Kind: Waiting, Container: "log", Reason: "CreateContainerConfigError"}},
		"what comes before counts": {newPod(corev1.PodPending, containers(waiting("app", "ErrImagePull")), func(pod *corev1.Pod) {
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{waiting("setup", "CrashLoopBackOff")}
		}), Trouble{Kind: Restarting, Container: "setup", Reason: "CrashLoopBackOff"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, TroubleOf(test.pod)); diff != "" {
				t.Errorf("trouble (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, TroubleOf(Trim(test.pod))); diff != "" {
				t.Errorf("trouble of the trimmed Pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfAPodThatIsReadyNoTroubleIsKept(t *testing.T) {
	pod := newPod(corev1.PodRunning, readySince(now), containers(waiting("app", "CrashLoopBackOff")))
	if kept := Trim(pod).Status; len(kept.Conditions) != 1 || len(kept.ContainerStatuses) != 0 {
		t.Errorf("kept %v and %v", kept.Conditions, kept.ContainerStatuses)
	}
}
