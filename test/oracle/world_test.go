package oracle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// world is what the API server keeps of one Deployment. A sync turns one world into the
// next; two syncs have the same effect if the worlds after them are the same.
type world struct {
	deployment *appsv1.Deployment
	sets       map[string]*appsv1.ReplicaSet // by name; some may be others'
	pods       []*corev1.Pod
	version    int // of the last write
}

func (w *world) clone() *world {
	copied := &world{deployment: w.deployment.DeepCopy(), sets: map[string]*appsv1.ReplicaSet{}, pods: w.pods, version: w.version}
	for name, rs := range w.sets {
		copied.sets[name] = rs.DeepCopy()
	}
	return copied
}

// owned returns the Deployment's ReplicaSets, in the order of their names.
func (w *world) owned() []*appsv1.ReplicaSet {
	var owned []*appsv1.ReplicaSet
	for _, name := range slices.Sorted(maps.Keys(w.sets)) {
		if rs := w.sets[name]; metav1.IsControlledBy(rs, w.deployment) {
			owned = append(owned, rs)
		}
	}
	return owned
}

// snapshot is what our loop would make of the world.
func (w *world) snapshot(now time.Time) rollout.Snapshot {
	s := rollout.Snapshot{Deployment: w.deployment, ReplicaSets: w.owned(), Now: now, Pods: map[types.UID][]*corev1.Pod{}}
	if w.deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		for _, pod := range w.pods {
			owner := metav1.GetControllerOfNoCopy(pod)
			s.Pods[owner.UID] = append(s.Pods[owner.UID], pod)
		}
	}
	return s
}

// objects returns copies of all that is there. A size that is left out becomes 1, as the
// API server has it: the built-in loop takes for granted that there is one.
func (w *world) objects() []runtime.Object {
	deployment := w.deployment.DeepCopy()
	defaultSize(&deployment.Spec.Replicas)
	objects := []runtime.Object{deployment}
	for _, rs := range w.sets {
		rs = rs.DeepCopy()
		defaultSize(&rs.Spec.Replicas)
		objects = append(objects, rs)
	}
	for _, pod := range w.pods {
		objects = append(objects, pod.DeepCopy())
	}
	return objects
}

func defaultSize(size **int32) {
	if *size == nil {
		one := int32(1)
		*size = &one
	}
}

// create keeps a new ReplicaSet, as the API server does.
func (w *world) create(rs *appsv1.ReplicaSet, now time.Time) *appsv1.ReplicaSet {
	rs = rs.DeepCopy()
	rs.UID, rs.Generation, rs.CreationTimestamp = types.UID("uid of "+rs.Name), 1, metav1.NewTime(now).Rfc3339Copy()
	return w.put(rs)
}

// put keeps a ReplicaSet that was written.
func (w *world) put(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	rs = rs.DeepCopy()
	w.version++
	rs.ResourceVersion = fmt.Sprint(w.version)
	w.sets[rs.Name] = rs
	return rs
}

// putDeployment keeps a Deployment that was written, with times in whole seconds.
func (w *world) putDeployment(d *appsv1.Deployment) *appsv1.Deployment {
	d = d.DeepCopy()
	w.version++
	d.ResourceVersion = fmt.Sprint(w.version)
	for i := range d.Status.Conditions {
		condition := &d.Status.Conditions[i]
		condition.LastUpdateTime = condition.LastUpdateTime.Rfc3339Copy()
		condition.LastTransitionTime = condition.LastTransitionTime.Rfc3339Copy()
	}
	w.deployment = d
	return d
}
