package simulation

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// namespace is the one that everything is in.
const namespace = "shop"

// server is the API server, as far as the two loops can tell: resourceVersions that rise over
// all resources, optimistic locking, generations, UIDs that are never used again, deletion
// with grace and finalizers, and three admission plugins, for quotas, for namespaces
// that are being deleted, and one that changes templates.
type server struct {
	clock       *clock
	version     int64
	deployments table[*appsv1.Deployment]
	replicaSets table[*appsv1.ReplicaSet]
	pods        table[*corev1.Pod]

	admission   admission
	quota       int  // how many Pods may be there at most; 0 for any number
	terminating bool // whether the namespace is being deleted
}

func newServer(c *clock) *server {
	s := &server{clock: c, version: firstVersion}
	s.deployments.resource, s.replicaSets.resource, s.pods.resource = "deployments", "replicasets", "pods"
	return s
}

// put gives the new object its version and makes the change.
func put[T object](s *server, t *table[T], by *writer, old, changed T) T {
	var none T
	s.version++
	if changed != none {
		changed.SetResourceVersion(strconv.FormatInt(s.version, 10))
	}
	c := change[T]{version: s.version, old: old, new: changed}
	t.put(c)
	t.changed(by, c)
	return changed
}

// create takes in an object that nobody else has. Its UID is scattered, as real ones are, so
// that an order by UID is none by age.
func create[T object](s *server, t *table[T], by *writer, o T) (T, error) {
	var none T
	resource := schema.GroupResource{Resource: t.resource}
	if s.terminating {
		return none, namespaceTerminating(resource, o.GetName())
	}
	if t.get(o.GetName()) != none {
		return none, apierrors.NewAlreadyExists(resource, o.GetName())
	}
	if t.resource == s.pods.resource && s.quota > 0 && len(s.pods.rows) >= s.quota {
		return none, apierrors.NewForbidden(resource, o.GetName(), fmt.Errorf("exceeded quota: few, used: pods=%d, limited: pods=%d", len(s.pods.rows), s.quota))
	}
	o.SetUID(types.UID(fmt.Sprintf("%08x-%s", scatter(uint32(s.version)), o.GetName())))
	o.SetCreationTimestamp(s.clock.stamp())
	o.SetGeneration(1)
	return put(s, t, by, none, o), nil
}

// scatter mixes the bits of a number; no two numbers give the same.
func scatter(n uint32) uint32 {
	n = (n ^ n>>16) * 0x7feb352d
	n = (n ^ n>>15) * 0x846ca68b
	return n ^ n>>16
}

func namespaceTerminating(resource schema.GroupResource, name string) error {
	err := apierrors.NewForbidden(resource, name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	return err
}

// current returns the object of a name, if it is the one that is meant.
func current[T object](t *table[T], name string, want metav1.Preconditions) (T, error) {
	var none T
	resource := schema.GroupResource{Resource: t.resource}
	o := t.get(name)
	switch {
	case o == none:
		return none, apierrors.NewNotFound(resource, name)
	case want.UID != nil && *want.UID != o.GetUID():
		return none, apierrors.NewConflict(resource, name, fmt.Errorf("the UID is %s, not %s", o.GetUID(), *want.UID))
	case want.ResourceVersion != nil && *want.ResourceVersion != o.GetResourceVersion():
		return none, apierrors.NewConflict(resource, name, fmt.Errorf("the object has been modified"))
	}
	return o, nil
}

// only returns preconditions; what is empty is not asked.
func only(uid types.UID, version string) metav1.Preconditions {
	var p metav1.Preconditions
	if uid != "" {
		p.UID = &uid
	}
	if version != "" {
		p.ResourceVersion = &version
	}
	return p
}

// remove deletes an object: at once, or, if it has finalizers or time to stop, by marking it.
func remove[T object](s *server, t *table[T], by *writer, name string, want metav1.Preconditions, policy metav1.DeletionPropagation) error {
	var none T
	o, err := current(t, name, want)
	if err != nil {
		return err
	}
	if o.GetDeletionTimestamp() != nil {
		return nil // it is on its way; asking again changes nothing
	}
	marked := shallow(o)
	switch policy {
	case metav1.DeletePropagationForeground:
		marked.SetFinalizers(append([]string{metav1.FinalizerDeleteDependents}, o.GetFinalizers()...))
	case metav1.DeletePropagationOrphan:
		marked.SetFinalizers(append([]string{metav1.FinalizerOrphanDependents}, o.GetFinalizers()...))
	}
	grace := graceOf(o)
	if len(marked.GetFinalizers()) == 0 && grace == 0 {
		put(s, t, by, o, none)
		return nil
	}
	seconds := int64(grace.Seconds())
	stamp := s.clock.stamp()
	stamp.Time = stamp.Add(grace)
	marked.SetDeletionGracePeriodSeconds(&seconds)
	marked.SetDeletionTimestamp(&stamp)
	marked.SetGeneration(o.GetGeneration() + 1)
	put(s, t, by, o, marked)
	return nil
}

// graceOf is how long an object may take to stop. A Pod that runs nowhere needs no time.
func graceOf(o metav1.Object) time.Duration {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	return 30 * time.Second
}

// finish takes away an object that is being deleted and that nothing holds any more.
func finish[T object](s *server, t *table[T], by *writer, o T) {
	var none T
	put(s, t, by, o, none)
}

// shallow returns a copy to change. Everything behind pointers, in slices and maps is shared
// with the original, so it must be replaced and not written.
func shallow[T object](o T) T {
	var copied any
	switch o := any(o).(type) {
	case *appsv1.Deployment:
		d := *o
		copied = &d
	case *appsv1.ReplicaSet:
		rs := *o
		copied = &rs
	case *corev1.Pod:
		pod := *o
		copied = &pod
	}
	typed, _ := copied.(T)
	return typed
}
