package scale

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// now is the time of every decision in these tests. It has a fraction of a second, as a
// clock's time has and an object's has not.
var now = time.Date(2027, 3, 1, 12, 0, 0, 500_000_000, time.UTC)

// ago returns the time of something that happened so long before now, in whole seconds.
func ago(d time.Duration) metav1.Time {
	return metav1.NewTime(now.Add(-d).Truncate(time.Second))
}

// newPod returns a running Pod on a node of its own that has been ready for an hour.
func newPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), CreationTimestamp: ago(2 * time.Hour),
			Labels: map[string]string{"app": "web", "tier": "front"},
		},
		Spec:   corev1.PodSpec{NodeName: "node-of-" + name},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	ready(time.Hour)(pod)
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func readyCondition(status corev1.ConditionStatus, since metav1.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: since}}
	}
}

func ready(since time.Duration) func(*corev1.Pod) {
	return readyCondition(corev1.ConditionTrue, ago(since))
}

func readySinceNobodyKnows(pod *corev1.Pod) {
	readyCondition(corev1.ConditionTrue, metav1.Time{})(pod)
}

func notReady(pod *corev1.Pod) {
	readyCondition(corev1.ConditionFalse, ago(time.Hour))(pod)
}

func on(node string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = node }
}

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func cost(cost string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{corev1.PodDeletionCost: cost}
	}
}

func created(age time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.CreationTimestamp = ago(age) }
}

func createdNobodyKnowsWhen(pod *corev1.Pod) { pod.CreationTimestamp = metav1.Time{} }

func restarts(containers, sidecars int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", RestartCount: sidecars}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: containers}}
	}
}

// newPods returns n Pods that differ in nothing but their names.
func newPods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		pods = append(pods, newPod(fmt.Sprintf("pod-%04d", i)))
	}
	return pods
}

// newSnapshot returns a settled snapshot of a ReplicaSet of the given size with these Pods.
func newSnapshot(replicas int32, active []*corev1.Pod, edits ...func(*Snapshot)) Snapshot {
	snapshot := Snapshot{
		ReplicaSet: &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 4},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: &replicas,
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
					Labels: map[string]string{"app": "web", "tier": "front"},
				}},
			},
		},
		Active:  active,
		Settled: true,
		Now:     now,
	}
	for _, edit := range edits {
		edit(&snapshot)
	}
	return snapshot
}

func unsettled(s *Snapshot) { s.Settled = false }

func refused(s *Snapshot) { s.Refused = 1280 * time.Millisecond }

func namesOf(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}
