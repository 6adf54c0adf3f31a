package rollout

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// Plan is what to do next for one Deployment. The order of the fields is the order in
// which they are carried out; the zero Plan does nothing.
type Plan struct {
	// Rollback, if not nil, is all there is to do: it changes the Deployment itself.
	Rollback *Rollback
	// Probe, if not nil, is to be tried before the new ReplicaSet is made.
	Probe *Probe
	// Create is the new ReplicaSet, where it does not exist yet.
	Create *Creation
	// Change holds at most one change per ReplicaSet.
	Change []ReplicaSetChange
	// Delete holds the ReplicaSets that the revision history limit leaves no room for.
	Delete []Deletion
	// Scaling tells that the plan follows a new size of the Deployment and does not move
	// the rollout.
	Scaling bool
	// Note is one sentence on the decision as a whole; for a plan that does nothing it
	// says what is waited for.
	Note string
	// LookAgain is after what time to decide anew although nothing changes; 0 if not at all.
	LookAgain time.Duration
	// Remarks names garbage that was found on the way and ignored.
	Remarks []string
}

// Creation is a ReplicaSet to create.
type Creation struct {
	ReplicaSet *appsv1.ReplicaSet
	Why        string
}

// ReplicaSetChange turns a ReplicaSet as it was observed into what it should be. Only
// spec.replicas, spec.minReadySeconds and annotations differ.
type ReplicaSetChange struct {
	Observed, Desired *appsv1.ReplicaSet
	Why               string
}

// Resizes reports whether the change is one of size, and from what to what.
func (c ReplicaSetChange) Resizes() (from, to int64, resizes bool) {
	from, to = size(c.Observed), size(c.Desired)
	return from, to, from != to
}

// Deletion is a ReplicaSet to delete.
type Deletion struct {
	ReplicaSet *appsv1.ReplicaSet
	Why        string
}

// Empty reports whether there is nothing to do.
func (p Plan) Empty() bool {
	return p.Rollback == nil && p.Create == nil && len(p.Change) == 0 && len(p.Delete) == 0
}

// Decide says what to do next. It fails only for a Deployment that the API server should
// have refused: an unknown strategy, or fenceposts that are no numbers.
func Decide(s Snapshot) (Plan, error) {
	v, err := look(s)
	if err != nil {
		return Plan{}, err
	}
	if !v.recreates() && s.Deployment.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return Plan{}, fmt.Errorf("deciding on Deployment %s: unknown strategy %q, use RollingUpdate or Recreate",
			s.Deployment.Name, s.Deployment.Spec.Strategy.Type)
	}
	d := draft{view: v}
	switch {
	case s.Deployment.DeletionTimestamp != nil:
		return Plan{Note: "the Deployment is being deleted"}, nil
	case v.resuming():
		return Plan{Note: "the Deployment was resumed, which is reported before the rollout goes on"}, nil
	case s.Deployment.Spec.Paused:
		d.bookkeeping()
		d.scale()
		if !v.rollbackRequested() {
			d.history()
		}
	case v.rollbackRequested():
		return v.planRollback(), nil
	case v.sizeChanged():
		d.bookkeeping()
		d.scale()
	case v.recreates():
		d.bookkeeping()
		d.recreate()
	default:
		d.bookkeeping()
		d.roll()
	}
	return d.plan(), nil
}

// draft is a plan in the making. It gathers all that is wanted of a ReplicaSet, so that
// several reasons to change it end in one write.
type draft struct {
	view
	create  *Creation
	probe   *Probe
	wait    time.Duration
	changes []*ReplicaSetChange // in the order in which they came up
	deletes []Deletion
	scaling bool
	note    string
}

// edit returns the desired state of a ReplicaSet, for the caller to change.
func (d *draft) edit(rs *appsv1.ReplicaSet) *ReplicaSetChange {
	for _, change := range d.changes {
		if change.Observed == rs {
			return change
		}
	}
	change := &ReplicaSetChange{Observed: rs, Desired: editable(rs)}
	d.changes = append(d.changes, change)
	return change
}

// resize sets the size of a ReplicaSet and notes what it was sized for.
func (d *draft) resize(rs *appsv1.ReplicaSet, to int64, why string) {
	change := d.edit(rs)
	count := int32(to)
	change.Desired.Spec.Replicas = &count
	change.Why = why
	d.markSize(change.Desired)
}

// givesAnotherSize reports whether the draft resizes a ReplicaSet.
func (d *draft) givesAnotherSize(rs *appsv1.ReplicaSet) bool {
	return slices.ContainsFunc(d.changes, func(change *ReplicaSetChange) bool {
		_, _, resizes := change.Resizes()
		return change.Observed == rs && resizes
	})
}

// bookkeeping keeps the new ReplicaSet's copies of the Deployment's fields up to date.
func (d *draft) bookkeeping() {
	if d.new == nil || leaving(d.new) {
		return
	}
	change := d.edit(d.new)
	d.bookkeep(change.Desired)
	change.Why = "the annotations, revision or minReadySeconds of its Deployment changed"
}

// plan returns the finished plan: edits that changed nothing are left out.
func (d *draft) plan() Plan {
	plan := Plan{Probe: d.probe, Create: d.create, Delete: d.deletes, Scaling: d.scaling, Note: d.note, LookAgain: d.wait, Remarks: d.remarks()}
	for _, change := range d.changes {
		if change.changesAnything() {
			plan.Change = append(plan.Change, *change)
		}
	}
	return plan
}

func (c *ReplicaSetChange) changesAnything() bool {
	return size(c.Observed) != size(c.Desired) ||
		c.Observed.Spec.MinReadySeconds != c.Desired.Spec.MinReadySeconds ||
		!maps.Equal(c.Observed.Annotations, c.Desired.Annotations)
}

// history deletes the old ReplicaSets beyond the revision history limit, those of the
// lowest revisions first. One that has, may have or is being given Pods is kept, and counts.
func (d *draft) history() {
	limit := d.Deployment.Spec.RevisionHistoryLimit
	if limit == nil { // the largest number keeps them all as well
		return
	}
	kept := slices.DeleteFunc(slices.Clone(d.old), leaving)
	slices.SortStableFunc(kept, byRevision)
	excess := max(0, len(kept)-int(*limit))
	for _, rs := range kept[:excess] {
		if size(rs) == 0 && !d.givesAnotherSize(rs) && rs.Status.Replicas == 0 && rs.Status.ObservedGeneration >= rs.Generation {
			d.deletes = append(d.deletes, Deletion{ReplicaSet: rs,
				Why: fmt.Sprintf("%d old ReplicaSets, and revisionHistoryLimit keeps %d", len(kept), *limit)})
		}
	}
}
