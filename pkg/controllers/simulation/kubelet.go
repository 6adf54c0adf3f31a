package simulation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// The kubelets, the scheduler and whatever else befalls Pods.

// advance takes a Pod one step of its ordinary life further, and reports whether there was
// one: to a node, to Running, to Ready as far as its image ever gets there, and away
// when it is being deleted.
func (w *World) advance(pod *corev1.Pod) bool {
	switch {
	case pod.DeletionTimestamp != nil:
		if len(pod.Finalizers) > 0 {
			return false
		}
		finish(w.server, &w.server.pods, &w.kubelet, pod)
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return false
	case pod.Spec.NodeName == "":
		w.steps++
		node := fmt.Sprintf("node-%d", w.steps%3)
		w.changePod(pod, func(p *corev1.Pod) { p.Spec.NodeName = node })
	case pod.Status.Phase != corev1.PodRunning:
		w.changePod(pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	case readiness(pod) != corev1.ConditionTrue && becomesReady(pod):
		w.setReady(pod, corev1.ConditionTrue)
	default:
		return false
	}
	return true
}

// becomesReady reports whether a Pod of its image ever does.
func becomesReady(pod *corev1.Pod) bool {
	image := pod.Spec.Containers[0].Image
	return image != brokenImage && image != crashImage
}

// befall lets something bad happen to a Pod.
func (w *World) befall(pod *corev1.Pod, what int) {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return
	}
	running := pod.Status.Phase == corev1.PodRunning
	switch {
	case what < 4 && readiness(pod) == corev1.ConditionTrue:
		w.setReady(pod, corev1.ConditionFalse)
	case what < 6 && running:
		w.changePod(pod, func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: restarts(pod) + 1}}
		})
	case what < 9:
		w.end(pod, corev1.PodFailed, "Evicted")
	case what < 10 && running:
		w.end(pod, corev1.PodSucceeded, "")
	case what < 11 && running:
		w.changePod(pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodUnknown })
	case what < 12 && pod.Spec.Containers[0].Image == crashImage:
		w.end(pod, corev1.PodFailed, "Error")
	}
}

func (w *World) end(pod *corev1.Pod, phase corev1.PodPhase, reason string) {
	w.changePod(pod, func(p *corev1.Pod) {
		if p.Status.Phase != corev1.PodPending {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "c", RestartCount: restarts(pod),
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: w.clock.stamp()}},
			}}
		}
		p.Status.Phase, p.Status.Reason, p.Status.Conditions = phase, reason, nil
	})
}

func (w *World) setReady(pod *corev1.Pod, status corev1.ConditionStatus) {
	w.changePod(pod, func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: w.clock.stamp()}}
	})
}

// changePod writes a changed copy of a Pod.
func (w *World) changePod(pod *corev1.Pod, edit func(*corev1.Pod)) {
	changed := shallow(pod)
	edit(changed)
	put(w.server, &w.server.pods, &w.kubelet, pod, changed)
}

// readiness returns the status of a Pod's Ready condition; "" if it has none.
func readiness(pod *corev1.Pod) corev1.ConditionStatus {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status
		}
	}
	return ""
}

func restarts(pod *corev1.Pod) int32 {
	if len(pod.Status.ContainerStatuses) == 0 {
		return 0
	}
	return pod.Status.ContainerStatuses[0].RestartCount
}
