package pods

import corev1 "k8s.io/api/core/v1"

// Kind is a kind of trouble that keeps a Pod from being ready. The earlier in a Pod's life it
// comes, the lower.
type Kind int

// The kinds of trouble.
const (
	NoTrouble   Kind = iota // it is ready, or nothing is known against it
	Unscheduled             // no node has been found for it
	Waiting                 // a container of it waits for something, such as its image
	Restarting              // a container of it fails and is restarted
	NotReady                // it runs, and is not ready
)

// The reasons that kubelets give for a container that waits, as far as they are told apart here.
// The first two are the beginning of each; the next two stand for one trouble.
const (
	creating     = "ContainerCreating"
	initializing = "PodInitializing"
	imageFailed  = "ErrImagePull"
	imageBackOff = "ImagePullBackOff"
	crashBackOff = "CrashLoopBackOff"
)

// Trouble is why a Pod is not ready, as far as its status tells. It has no numbers or names in
// it that differ between Pods in the same trouble, or change while it lasts.
type Trouble struct {
	Kind      Kind
	Container string // its name; "" where the trouble is not that of one
	Reason    string // in one word, as the scheduler or the kubelet gives it
	Message   string // what the scheduler says
}

// TroubleOf returns what keeps a Pod from being ready.
func TroubleOf(pod *corev1.Pod) Trouble {
	if IsReady(pod) {
		return Trouble{}
	}
	if condition := unscheduled(pod); condition != nil {
		return Trouble{Kind: Unscheduled, Reason: condition.Reason, Message: condition.Message}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if trouble := troubleOfContainer(&statuses[i]); trouble.Kind != NoTrouble {
				return trouble
			}
		}
	}
	if pod.Status.Phase == corev1.PodRunning {
		return Trouble{Kind: NotReady}
	}
	return Trouble{}
}

// troubleOfContainer takes one that was restarted and one that waits for its next restart for
// the same: it goes to and fro between the two.
func troubleOfContainer(status *corev1.ContainerStatus) Trouble {
	reason := waitsFor(status)
	switch {
	case reason == crashBackOff || reason == "" && status.RestartCount > 0:
		return Trouble{Kind: Restarting, Container: status.Name, Reason: crashBackOff}
	case reason == imageFailed:
		return Trouble{Kind: Waiting, Container: status.Name, Reason: imageBackOff}
	case reason != "":
		return Trouble{Kind: Waiting, Container: status.Name, Reason: reason}
	}
	return Trouble{}
}

// waitsFor returns why a container waits, "" if it does not or has only begun to.
func waitsFor(status *corev1.ContainerStatus) string {
	waiting := status.State.Waiting
	if waiting == nil || waiting.Reason == creating || waiting.Reason == initializing {
		return ""
	}
	return waiting.Reason
}

// unscheduled returns the condition that says why the Pod has no node; nil if it has one.
func unscheduled(pod *corev1.Pod) *corev1.PodCondition {
	return findSaying(pod, corev1.PodScheduled, corev1.ConditionFalse)
}
