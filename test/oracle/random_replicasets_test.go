package oracle

import (
	"errors"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func randomReplicaSets(d dice, now time.Time) *replicaSets {
	r := &replicaSets{sets: map[string]*appsv1.ReplicaSet{}}
	owner := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}}
	for i := range 1 + d.IntN(3) {
		rs := randomOwnerOf(d, fmt.Sprintf("web-%d", i), now)
		if d.chance(80) {
			rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
		}
		r.sets[rs.Name] = rs
		for range d.IntN(9) {
			r.pods = append(r.pods, randomOwnedPod(d, rs, now))
		}
	}
	if d.odd(15) {
		r.refusal = errors.New(pick(d, "no room", "not allowed"))
	}
	return r
}

// randomOwnerOf returns a ReplicaSet with any size and any status.
func randomOwnerOf(d dice, name string, now time.Time) *appsv1.ReplicaSet {
	rs := namedReplicaSet(name, pick[int32](d, 0, 1, 2, 3, 4, 6))
	rs.UID, rs.Generation = types.UID("uid of "+name), int64(1+d.IntN(2))
	rs.Spec.Template.Labels = map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: name, "tier": "front"}
	rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: name}}
	rs.Spec.MinReadySeconds = pick[int32](d, 0, 0, 1, 10, 3600)
	switch {
	case d.odd(3):
		*rs.Spec.Replicas = pick[int32](d, 400, 700, math.MaxInt32)
	case d.odd(5):
		rs.Spec.Replicas = nil
	case d.odd(5):
		rs.DeletionTimestamp, rs.Finalizers = &metav1.Time{Time: now}, []string{"example.com/wait"}
	}
	randomReplicaSetStatus(d, rs, now)
	rs.Status.FullyLabeledReplicas = rs.Status.Replicas
	if d.chance(20) {
		rs.Status.Conditions = append(rs.Status.Conditions, appsv1.ReplicaSetCondition{Type: "Custom", Status: corev1.ConditionTrue})
	}
	return rs
}

func randomOwnedPod(d dice, rs *appsv1.ReplicaSet, now time.Time) *corev1.Pod {
	pod := randomPod(d, rs, now)
	if d.chance(10) {
		pod.Status.Phase = pick(d, corev1.PodFailed, corev1.PodSucceeded)
	}
	if d.chance(10) {
		pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: now}, []string{"example.com/wait"}
	}
	if d.chance(10) {
		delete(pod.Labels, "tier")
	}
	return pod
}
