package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trim returns the part of a Pod that the control loops read: its metadata
// without managedFields, its node, phase and Ready condition, its restart counts
// and the names of its sidecars. A Pod in the cache of a large cluster shrinks
// to a fraction that way.
//
// A trimmed Pod must never be written back whole: it would erase the rest.
// The loops only create, patch and delete Pods.
func Trim(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   pod.TypeMeta,
		ObjectMeta: trimMeta(pod.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName:       pod.Spec.NodeName,
			InitContainers: sidecars(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            readyOnly(pod),
			ContainerStatuses:     restartCounts(pod.Status.ContainerStatuses),
			InitContainerStatuses: restartCounts(pod.Status.InitContainerStatuses),
		},
	}
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

func readyOnly(pod *corev1.Pod) []corev1.PodCondition {
	condition := readyCondition(pod)
	if condition == nil {
		return nil
	}
	return []corev1.PodCondition{{
		Type:               corev1.PodReady,
		Status:             condition.Status,
		LastTransitionTime: condition.LastTransitionTime,
	}}
}

func restartCounts(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range statuses {
		if statuses[i].RestartCount > 0 {
			kept = append(kept, corev1.ContainerStatus{Name: statuses[i].Name, RestartCount: statuses[i].RestartCount})
		}
	}
	return kept
}
