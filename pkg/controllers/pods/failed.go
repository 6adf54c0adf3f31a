package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// HasFailed reports whether the Pod, which is not active any more, came to its end for a reason
// of its own or of its node: its phase is Failed, or the condition DisruptionTarget
// says that somebody had to take it away, as for a taint of its node. What users and control
// loops delete has not failed.
func HasFailed(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || disruption(pod) != nil
}

// FailedAt returns when a Pod that has failed did so, by the clock of whoever says so. A Pod
// none of whose containers ever started, since the kubelet refused it, has failed when it was
// made. It reports false where nobody can tell.
func FailedAt(pod *corev1.Pod) (time.Time, bool) {
	if condition := disruption(pod); condition != nil && !condition.LastTransitionTime.IsZero() {
		return condition.LastTransitionTime.Time, true
	}
	started, finished := lifeOf(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	if !started {
		return pod.CreationTimestamp.Time, true
	}
	return finished, !finished.IsZero()
}

// CauseOfFailure says in a few words why a Pod has failed; "" where nobody has said so.
func CauseOfFailure(pod *corev1.Pod) string {
	reason, message := pod.Status.Reason, pod.Status.Message
	if condition := disruption(pod); condition != nil && reason == "" && message == "" {
		reason, message = condition.Reason, condition.Message
	}
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}

// lifeOf reports whether any container has ever run, and when the last one came to its end, as far
// as that is known.
func lifeOf(all ...[]corev1.ContainerStatus) (started bool, finished time.Time) {
	for _, statuses := range all {
		for i := range statuses {
			status := &statuses[i]
			if status.RestartCount > 0 || status.State.Running != nil {
				started = true
			}
			// A kubelet that has lost a container says that it has ended, and no time.
			if end := status.State.Terminated; end != nil && !end.FinishedAt.IsZero() {
				started = true
				if end.FinishedAt.After(finished) {
					finished = end.FinishedAt.Time
				}
			}
		}
	}
	return started, finished
}

// disruption is the condition that somebody has to take the Pod away; nil if it is not there or
// not true.
func disruption(pod *corev1.Pod) *corev1.PodCondition {
	return findSaying(pod, corev1.DisruptionTarget, corev1.ConditionTrue)
}
