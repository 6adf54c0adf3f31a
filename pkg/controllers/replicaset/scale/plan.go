package scale

import (
	"fmt"
	"time"

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
	// Wait is for how long the Pods that are missing are not created yet; 0 if that does not
	// wait for a time. Then Create is 0.
	Wait time.Duration
	// Why is one sentence with the numbers in it; for a plan that does nothing it says
	// why that is so.
	Why string
}

// Empty reports whether there is nothing to do, now or after a wait.
func (p Plan) Empty() bool { return p.Create == 0 && len(p.Delete) == 0 && p.Wait == 0 }

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
		return fill(s)
	case s.surplus() > 0:
		return Plan{Delete: victims(s), Why: fmt.Sprintf("%s there, %d %s wanted", podsAre(s.active()), s.Wanted(), are(s.Wanted()))}
	}
	return Plan{Why: fmt.Sprintf("all of %d pods are there", s.Wanted())}
}

// fill creates the Pods that are missing, unless that has to wait.
func fill(s Snapshot) Plan {
	there := fmt.Sprintf("%d of %d pods %s there", s.active(), s.Wanted(), are(s.active()))
	switch pause := s.Failures.Left(s.Now); {
	case pause > 0 && pause >= s.Refused:
		return Plan{Wait: pause, Why: fmt.Sprintf("%s; %s, and the next ones are made in %s", there, s.Failures, pause.Round(time.Millisecond))}
	case s.Refused > 0:
		return Plan{Wait: s.Refused, Why: fmt.Sprintf("%s; one was refused, and the next try is in %s", there, s.Refused.Round(time.Millisecond))}
	}
	return Plan{Create: int(s.missing()), Why: there}
}

// podsAre says how many Pods there are, with the verb, and are is the verb alone.
func podsAre(count int64) string {
	if count == 1 {
		return "1 pod is"
	}
	return fmt.Sprintf("%d pods are", count)
}

func are(count int64) string {
	if count == 1 {
		return "is"
	}
	return "are"
}
