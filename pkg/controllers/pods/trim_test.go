package pods

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answers is all that this package says about a Pod.
type answers struct {
	Terminal, Active, Terminating, Ready, Available bool
	ReadySince, AvailableAt                         time.Time
	Cost, Restarts, SidecarRestarts                 int32
}

func ask(pod *corev1.Pod) answers {
	a := answers{
		Terminal: IsTerminal(pod), Active: IsActive(pod), Terminating: IsTerminating(pod),
		Ready: IsReady(pod), Available: IsAvailable(pod, 10, now),
		ReadySince: ReadySince(pod), Cost: DeletionCost(pod),
	}
	a.AvailableAt, _ = AvailableAt(pod, 10)
	a.Restarts, a.SidecarRestarts = Restarts(pod)
	return a
}

// fullPod has something in every field that matters, and in some that do not.
func fullPod(edits ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	pod := newPod(corev1.PodRunning, readySince(now.Add(-time.Minute)), restarted)
	pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	pod.ObjectMeta = metav1.ObjectMeta{
		Name: "web-abcde", Namespace: "default", UID: "uid", ResourceVersion: "7", GenerateName: "web-",
		CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)), Generation: 2,
		Labels:          map[string]string{"app": "web"},
		Annotations:     map[string]string{corev1.PodDeletionCost: "17"},
		Finalizers:      []string{"lab.example/hold"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: &yes}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "somebody"}},
	}
	pod.Spec.NodeName = "node"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "r/a:1"}}
	pod.Status.PodIP = "10.0.0.1"
	pod.Status.Reason = "Evicted"
	pod.Status.ContainerStatuses[0].Image = "r/a:1"
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func TestATrimmedPodAnswersEveryQuestionTheSame(t *testing.T) {
	tests := map[string]*corev1.Pod{
		"full":                      fullPod(),
		"empty":                     {},
		"being deleted":             fullPod(deleted),
		"failed":                    fullPod(func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }),
		"not ready":                 fullPod(condition(corev1.ConditionFalse, now)),
		"ready nobody knows when":   fullPod(readySince(time.Time{})),
		"without a Ready condition": fullPod(func(pod *corev1.Pod) { pod.Status.Conditions = pod.Status.Conditions[:1] }),
	}
	for name, pod := range tests {
		t.Run(name, func(t *testing.T) {
			before := pod.DeepCopy()
			trimmed := Trim(pod)
			if diff := cmp.Diff(ask(pod), ask(trimmed)); diff != "" {
				t.Errorf("answers (-whole +trimmed):\n%s", diff)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the pod itself was changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(trimmed, Trim(trimmed)); diff != "" {
				t.Errorf("trimming twice (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestTrimKeepsWhatIsReadAndNoMore(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := fullPod()
	want := &corev1.Pod{TypeMeta: pod.TypeMeta, ObjectMeta: *pod.ObjectMeta.DeepCopy()}
	want.ManagedFields = nil
	want.Spec.NodeName = "node"
	want.Spec.InitContainers = []corev1.Container{
		{Name: "proxy", RestartPolicy: &always},
		{Name: "logger", RestartPolicy: &always},
	}
	want.Status.Phase = corev1.PodRunning
	want.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute)),
	}}
	want.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 3}, {Name: "other", RestartCount: 1}}
	want.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "setup", RestartCount: 40}, {Name: "proxy", RestartCount: 2}, {Name: "logger", RestartCount: 5},
		{Name: "migrate", RestartCount: 50}, {Name: "unheard of", RestartCount: 60},
	}
	if diff := cmp.Diff(want, Trim(pod)); diff != "" {
		t.Errorf("trimmed pod (-want +got):\n%s", diff)
	}
}
