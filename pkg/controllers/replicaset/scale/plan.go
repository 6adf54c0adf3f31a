package scale

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// mostPerSync bounds how many Pods one sync creates or deletes, so that a huge ReplicaSet
// does not keep a worker from the others for long. It is the figure that
// kube-controller-manager uses.
const mostPerSync = 500

// Plan is what to do next for one ReplicaSet: create or delete, never both. The zero Plan
// does nothing.
type Plan struct {
	// Create is the number of Pods to create.
	Create int
	// Delete holds the Pods to delete, the most dispensable first.
	Delete []*corev1.Pod
	// Why is one sentence with the numbers in it; for a plan that does nothing it says
	// why that is so.
	Why string
}

// Empty reports whether there is nothing to do.
func (p Plan) Empty() bool { return p.Create == 0 && len(p.Delete) == 0 }

// Outcome is what came of a Plan.
type Outcome struct {
	// Done is how many of the creates or deletes took effect.
	Done int
	// Err is why the others did not, as the API server put it; nil if they were not tried.
	Err error
	// Retry is why they did not, if that says nothing about the ReplicaSet and is only to
	// be tried again: another writer was faster, for example.
	Retry error
}

// Decide says what to do next.
func Decide(s Snapshot) Plan {
	switch {
	case s.ReplicaSet.DeletionTimestamp != nil:
		return Plan{Why: "the ReplicaSet is being deleted"}
	case !s.Settled:
		return Plan{Why: "the cache does not yet show what was written last"}
	case s.missing() > 0:
		return Plan{Create: int(s.missing()), Why: fmt.Sprintf("%d of %d pods are there", s.active(), s.wanted())}
	case s.surplus() > 0:
		return Plan{Delete: victims(s), Why: fmt.Sprintf("%d pods are there, %d are wanted", s.active(), s.wanted())}
	}
	return Plan{Why: fmt.Sprintf("all of %d pods are there", s.wanted())}
}
