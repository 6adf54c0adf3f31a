package replicaset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newReplicaSet returns the ReplicaSet web of the given size, whose status is up to date for
// the given number of Pods as newPod makes them.
func newReplicaSet(replicas, there int32, edits ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	none := int32(0)
	labels := map[string]string{"app": "web"}
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name, UID: "uid-web", Generation: 1},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "r/a:1"}}},
			},
		},
		Status: appsv1.ReplicaSetStatus{
			ObservedGeneration: 1, Replicas: there, FullyLabeledReplicas: there,
			ReadyReplicas: there, AvailableReplicas: there, TerminatingReplicas: &none,
		},
	}
	for _, edit := range edits {
		edit(rs)
	}
	return rs
}

// newTestPod returns a ready Pod of the ReplicaSet web on a node of its own.
func newTestPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: web.Namespace, Name: name, UID: types.UID("uid-" + name),
			Labels:            map[string]string{"app": "web"},
			CreationTimestamp: metav1.NewTime(testNow.Add(-time.Hour)),
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(newReplicaSet(0, 0), kind)},
		},
		Spec: corev1.PodSpec{NodeName: "node-of-" + name},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testNow.Add(-time.Hour)),
		}}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func orphaned(pod *corev1.Pod) { pod.OwnerReferences = nil }

func failed(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }

func unready(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }

func relabeled(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "other"} }

func terminating(pod *corev1.Pod) {
	since := metav1.NewTime(testNow.Add(-time.Minute))
	pod.DeletionTimestamp = &since
}
