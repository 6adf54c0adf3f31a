package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trim returns the part of a Pod that the control loops read: its metadata
// without managedFields, its node, phase and Ready condition, its restart counts
// and the names of its sidecars; of one that is not ready, why; and of one that has failed, or
// is about to be taken away, since when and why. A Pod in the cache of a large cluster
// shrinks to a fraction that way.
//
// A trimmed Pod must never be written back whole: it would erase the rest.
// The loops only create, patch and delete Pods.
func Trim(pod *corev1.Pod) *corev1.Pod {
	trimmed := &corev1.Pod{
		TypeMeta:   pod.TypeMeta,
		ObjectMeta: trimMeta(pod.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName:       pod.Spec.NodeName,
			InitContainers: sidecars(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            trimConditions(pod),
			ContainerStatuses:     trimStatuses(pod, pod.Status.ContainerStatuses),
			InitContainerStatuses: trimStatuses(pod, pod.Status.InitContainerStatuses),
		},
	}
	if HasFailed(pod) {
		trimmed.Status.Reason, trimmed.Status.Message = pod.Status.Reason, pod.Status.Message
	}
	return trimmed
}

func trimMeta(meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.ManagedFields = nil
	return meta
}

func sidecars(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		policy := containers[i].RestartPolicy
		if policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			kept = append(kept, corev1.Container{Name: containers[i].Name, RestartPolicy: policy})
		}
	}
	return kept
}

// trimConditions keeps whether the Pod is ready, why no node has been found for it, and why it is
// about to be taken away.
func trimConditions(pod *corev1.Pod) []corev1.PodCondition {
	var kept []corev1.PodCondition
	if condition := readyCondition(pod); condition != nil {
		kept = append(kept, corev1.PodCondition{
			Type:               corev1.PodReady,
			Status:             condition.Status,
			LastTransitionTime: condition.LastTransitionTime,
		})
	}
	for _, condition := range []*corev1.PodCondition{unscheduled(pod), disruption(pod)} {
		if condition != nil {
			kept = append(kept, corev1.PodCondition{
				Type:               condition.Type,
				Status:             condition.Status,
				LastTransitionTime: condition.LastTransitionTime,
				Reason:             condition.Reason,
				Message:            condition.Message,
			})
		}
	}
	return kept
}

// trimStatuses keeps how often containers were restarted and, if the Pod is not ready, what
// they wait for; and of a Pod that has failed those that have run, and until when.
func trimStatuses(pod *corev1.Pod, statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	ready := IsReady(pod)
	for i := range statuses {
		status := corev1.ContainerStatus{Name: statuses[i].Name, RestartCount: statuses[i].RestartCount}
		if reason := waitsFor(&statuses[i]); reason != "" && !ready {
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
		}
		if started, finished := lifeOf(statuses[i : i+1]); started && pod.Status.Phase == corev1.PodFailed {
			status.State.Running = &corev1.ContainerStateRunning{}
			if !finished.IsZero() {
				status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(finished)}}
			}
		}
		if status.RestartCount > 0 || status.State != (corev1.ContainerState{}) {
			kept = append(kept, status)
		}
	}
	return kept
}
