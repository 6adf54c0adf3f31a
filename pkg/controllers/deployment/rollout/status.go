package rollout

import (
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Outcome is what came of carrying out a Plan.
type Outcome struct {
	// New is the new ReplicaSet that the plan's Create made or, under its name, found.
	New *appsv1.ReplicaSet
	// Created tells that New did not exist before.
	Created bool
	// Collision tells that the name of the ReplicaSet to create is taken by one that
	// is not the Deployment's, or has another template.
	Collision bool
	// Written holds the ReplicaSets that were changed, as the API server answered.
	Written []*appsv1.ReplicaSet
	// CreateErr is why the new ReplicaSet could not be created, if it should be reported
	// in the Deployment's conditions.
	CreateErr error
	// Held tells that the new ReplicaSet was not tried, because it was refused a moment ago.
	Held bool
	// LookAgain is after what time to try again what could not be done now; 0 if nothing is
	// to be tried.
	LookAgain time.Duration
	// Err is why the plan was not carried out to its end.
	Err error
}

// Report is what the Deployment should say of itself.
type Report struct {
	Status appsv1.DeploymentStatus
	// Revision is that of its new ReplicaSet; "" while there is none, it has not been given its
	// own yet, or nothing but the status may be written.
	Revision string
	// LookAgain is after what time to look again although nothing changes; 0 if not at all.
	LookAgain time.Duration
	// Degraded tells that the Deployment, whose rollout is complete, loses its availability with
	// this status.
	Degraded bool
	// TimedOut is what is to be said where the progress deadline passes with this status.
	TimedOut string
}

// report is a Report in the making.
type report struct {
	view       // the Snapshot, after the outcome
	plan       Plan
	outcome    Outcome
	status     appsv1.DeploymentStatus
	conditions conditionList
}

// Status returns what to report once a plan for the Snapshot has been carried out.
func Status(s Snapshot, plan Plan, outcome Outcome) Report {
	after, err := look(outcome.applyTo(s))
	if err != nil {
		return Report{Status: s.Deployment.Status} // Decide has refused this Deployment already
	}
	r := report{view: after, plan: plan, outcome: outcome}
	r.counts()
	// Statuses hold whole seconds; so must what is compared with them.
	r.conditions = conditionList{
		items: slices.Clone(s.Deployment.Status.Conditions),
		now:   metav1.NewTime(s.Now).Rfc3339Copy(),
	}
	r.availability()
	r.progress()
	r.failure()
	r.status.Conditions = r.conditions.items
	finished := Report{Status: r.status, LookAgain: r.lookAgain(), Degraded: r.degrades(), TimedOut: r.timesOut()}
	// Of a Deployment that is being deleted nothing but the status is written. And a template
	// that has become current again has an old revision until it could be given a new one.
	if after.new != nil && s.Deployment.DeletionTimestamp == nil && revisionOf(after.new) >= after.nextRevision() {
		finished.Revision = after.new.Annotations[RevisionAnnotation]
	}
	return finished
}

// CreateErrorMessage is what is said, in a condition and in an event, of a ReplicaSet that
// could not be created.
func CreateErrorMessage(name string, err error) string {
	return fmt.Sprintf("Failed to create new replica set %q: %v", name, err)
}

// applyTo returns the Snapshot as it is after the writes that the outcome tells of.
func (o Outcome) applyTo(s Snapshot) Snapshot {
	sets := make([]*appsv1.ReplicaSet, 0, len(s.ReplicaSets)+1)
	for _, rs := range s.ReplicaSets {
		i := slices.IndexFunc(o.Written, func(written *appsv1.ReplicaSet) bool { return written.UID == rs.UID })
		if i >= 0 {
			rs = o.Written[i]
		}
		sets = append(sets, rs)
	}
	known := func(rs *appsv1.ReplicaSet) bool { return rs.UID == o.New.UID }
	if o.New != nil && !slices.ContainsFunc(sets, known) {
		sets = append(sets, o.New)
	}
	s.ReplicaSets = sets
	return s
}

// counts fills in the numbers of the status.
func (r *report) counts() {
	all, available := r.all(), sum(r.all(), reportedAvailable)
	r.status = appsv1.DeploymentStatus{
		ObservedGeneration:  r.Deployment.Generation,
		Replicas:            count(sum(all, actual)),
		ReadyReplicas:       count(sum(all, func(rs *appsv1.ReplicaSet) int64 { return int64(rs.Status.ReadyReplicas) })),
		AvailableReplicas:   count(available),
		UnavailableReplicas: count(sum(all, size) - available),
		TerminatingReplicas: terminating(all),
		CollisionCount:      r.Deployment.Status.CollisionCount,
	}
	if r.new != nil {
		r.status.UpdatedReplicas = r.new.Status.Replicas
	}
	if r.outcome.Collision {
		var collisions int32
		if r.status.CollisionCount != nil {
			collisions = *r.status.CollisionCount
		}
		collisions++
		r.status.CollisionCount = &collisions
	}
}

// count turns a sum into a number that the API takes: it is never negative, as it would be
// for a moment while Pods that are not wanted any more are still counted as available.
func count(total int64) int32 {
	return int32(max(0, min(total, math.MaxInt32)))
}

// terminating sums up the terminating Pods; nil if a ReplicaSet that its loop has looked
// at does not report them, since a sum without it would be wrong. API servers before
// 1.35 do not keep the field.
func terminating(sets []*appsv1.ReplicaSet) *int32 {
	var total int64
	for _, rs := range sets {
		switch {
		case rs.Status.TerminatingReplicas != nil:
			total += int64(*rs.Status.TerminatingReplicas)
		case rs.Status.ObservedGeneration > 0:
			return nil
		}
	}
	sum := count(total)
	return &sum
}

// lookAgain returns when to look again: when the plan or what came of it says so, or when the
// progress deadline expires; and that a second later than it does, since the times that
// it is reckoned by are whole seconds.
func (r *report) lookAgain() time.Duration {
	if r.Deployment.DeletionTimestamp != nil {
		return 0
	}
	soonest := max(r.plan.LookAgain, r.outcome.LookAgain) // never both
	if left, judged := r.timeLeft(); judged && left >= 0 && (soonest == 0 || left+time.Second < soonest) {
		soonest = left + time.Second
	}
	return soonest
}
