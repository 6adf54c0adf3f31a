package pods

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// IsTerminal reports whether the Pod has run to its end: no container of it
// runs any more, and none ever will.
func IsTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Stopped reports whether the Pod, between two versions of it, has run to its end or is gone;
// current is nil for one that is gone.
func Stopped(old, current *corev1.Pod) bool {
	return old != nil && (current == nil || IsTerminal(current) && !IsTerminal(old))
}

// IsActive reports whether the Pod counts towards the size of its ReplicaSet:
// it has not run to its end and nobody has asked for its deletion.
func IsActive(pod *corev1.Pod) bool {
	return !IsTerminal(pod) && pod.DeletionTimestamp == nil
}

// IsTerminating reports whether the Pod is being deleted and may still run.
func IsTerminating(pod *corev1.Pod) bool {
	return !IsTerminal(pod) && pod.DeletionTimestamp != nil
}

// IsReady reports whether the Pod's Ready condition is true.
func IsReady(pod *corev1.Pod) bool {
	condition := readyCondition(pod)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

// ReadySince returns when the Pod became ready, by the clock of whoever said
// so (the kubelet). It is the zero time for a Pod that is not ready, and for one
// whose Ready condition carries no transition time.
func ReadySince(pod *corev1.Pod) time.Time {
	condition := readyCondition(pod)
	if condition == nil || condition.Status != corev1.ConditionTrue {
		return time.Time{}
	}
	return condition.LastTransitionTime.Time
}

// AvailableAt returns the time from which the Pod counts as available: when it
// has been ready for minReadySeconds. It reports false when no such time can be
// named: the Pod is not ready, or nobody wrote down since when it is.
// With minReadySeconds 0 a ready Pod is available at once, whatever its clock says.
func AvailableAt(pod *corev1.Pod, minReadySeconds int32) (time.Time, bool) {
	if !IsReady(pod) {
		return time.Time{}, false
	}
	since := ReadySince(pod)
	if minReadySeconds <= 0 {
		return since, true
	}
	if since.IsZero() {
		return time.Time{}, false
	}
	return since.Add(time.Duration(minReadySeconds) * time.Second), true
}

// IsAvailable reports whether the Pod has been ready for minReadySeconds at the
// given time.
func IsAvailable(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	at, known := AvailableAt(pod, minReadySeconds)
	return known && (minReadySeconds <= 0 || !at.After(now))
}

// DeletionCost returns what the Pod's controller.kubernetes.io/pod-deletion-cost
// annotation says; 0 when it is absent or no 32-bit integer. The API server
// refuses such garbage, but objects may be older than that check.
// The accepted spelling is that of
// https://kubernetes.io/docs/reference/labels-annotations-taints/#pod-deletion-cost
func DeletionCost(pod *corev1.Pod) int32 {
	text := pod.Annotations[corev1.PodDeletionCost]
	if !plainInteger(text) {
		return 0
	}
	cost, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(cost)
}

// plainInteger refuses two spellings that strconv takes and the API server does
// not: a leading plus sign and leading zeros.
func plainInteger(text string) bool {
	return text == "0" || text != "" && (text[0] == '-' || text[0] >= '1' && text[0] <= '9')
}

// Restarts returns the highest restart count among the Pod's ordinary
// containers, and among its sidecars (init containers that restart always).
func Restarts(pod *corev1.Pod) (containers, sidecars int32) {
	for i := range pod.Status.ContainerStatuses {
		containers = max(containers, pod.Status.ContainerStatuses[i].RestartCount)
	}
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		if isSidecar(pod, status.Name) {
			sidecars = max(sidecars, status.RestartCount)
		}
	}
	return containers, sidecars
}

func isSidecar(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if container.Name == name {
			return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition { return find(pod, corev1.PodReady) }

// find returns the Pod's condition of a type; nil if there is none.
func find(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// findSaying returns the Pod's condition of a type, if that has the status.
func findSaying(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) *corev1.PodCondition {
	if condition := find(pod, kind); condition != nil && condition.Status == status {
		return condition
	}
	return nil
}
