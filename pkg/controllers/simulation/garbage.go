package simulation

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The garbage collector and the namespace controller. Both see the API server as it is.

// collect makes the next step of the garbage collector, and reports whether there was one.
func (w *World) collect() bool {
	s := w.server
	if s.terminating && w.empty() {
		return true
	}
	for _, d := range s.deployments.rows {
		if d.DeletionTimestamp != nil && release(w, &s.deployments, d, dependents(&s.replicaSets, d.UID), &s.replicaSets) {
			return true
		}
	}
	for _, rs := range s.replicaSets.rows {
		if rs.DeletionTimestamp != nil && release(w, &s.replicaSets, rs, dependents(&s.pods, rs.UID), &s.pods) {
			return true
		}
	}
	return orphaned(w, &s.replicaSets, &s.deployments) || orphaned(w, &s.pods, &s.replicaSets)
}

// empty deletes one object of a namespace that is being deleted.
func (w *World) empty() bool {
	s := w.server
	return deleteOne(w, &s.deployments) || deleteOne(w, &s.replicaSets) || deleteOne(w, &s.pods)
}

func deleteOne[T object](w *World, t *table[T]) bool {
	for _, o := range t.rows {
		if o.GetDeletionTimestamp() == nil {
			_ = remove(w.server, t, &w.collector, o.GetName(), metav1.Preconditions{}, metav1.DeletePropagationBackground)
			return true
		}
	}
	return false
}

// dependents returns the objects that name an owner.
func dependents[T object](t *table[T], owner types.UID) []T {
	var all []T
	for _, o := range t.rows {
		if slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }) {
			all = append(all, o)
		}
	}
	return all
}

// release makes the next step towards the end of an owner that is being deleted and that waits
// for its dependents to be gone, or to be let go.
func release[O, D object](w *World, owners *table[O], owner O, all []D, t *table[D]) bool {
	finalizers := owner.GetFinalizers()
	switch {
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents) && len(all) > 0:
		orphan := shallow(all[0])
		orphan.SetOwnerReferences(slices.DeleteFunc(slices.Clone(all[0].GetOwnerReferences()),
			func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }))
		put(w.server, t, &w.collector, all[0], orphan)
		return true
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents) && len(all) > 0:
		for _, o := range all {
			if o.GetDeletionTimestamp() == nil {
				policy := metav1.DeletePropagationForeground
				if t.resource == w.server.pods.resource {
					policy = metav1.DeletePropagationBackground
				}
				_ = remove(w.server, t, &w.collector, o.GetName(), metav1.Preconditions{}, policy)
				return true
			}
		}
		return false
	case len(finalizers) > 0:
		freed := shallow(owner)
		freed.SetFinalizers(nil)
		old := put(w.server, owners, &w.collector, owner, freed)
		finish(w.server, owners, &w.collector, old)
		return true
	}
	return false
}

// orphaned deletes one object whose controller does not exist any more.
func orphaned[D, O object](w *World, t *table[D], owners *table[O]) bool {
	for _, o := range t.rows {
		controller := metav1.GetControllerOfNoCopy(o)
		if controller == nil || o.GetDeletionTimestamp() != nil {
			continue
		}
		var none O
		if owner := owners.get(controller.Name); owner == none || owner.GetUID() != controller.UID {
			_ = remove(w.server, t, &w.collector, o.GetName(), metav1.Preconditions{}, metav1.DeletePropagationBackground)
			return true
		}
	}
	return false
}
