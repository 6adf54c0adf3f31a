package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// Rollback changes the Deployment back to a former template. Whether it could be done or
// not, the annotation that asked for it goes.
type Rollback struct {
	Outcome RollbackOutcome
	// Revision is what was rolled back to; 0 if nothing was.
	Revision int64
	// Desired is the Deployment as it should be written.
	Desired *appsv1.Deployment
}

// RollbackOutcome says how a request for a rollback ends.
type RollbackOutcome int

// How a request for a rollback ends.
const (
	// RolledBack: the template and annotations of the revision were taken over.
	RolledBack RollbackOutcome = iota
	// NoLastRevision: the last revision was asked for, and there is none.
	NoLastRevision
	// RevisionNotFound: no ReplicaSet has the revision.
	RevisionNotFound
	// TemplateUnchanged: the revision has the template that the Deployment has already.
	TemplateUnchanged
)

// rollbackRequested reports whether the annotation asks for a rollback. One that holds
// no number asks for nothing.
func (v view) rollbackRequested() bool {
	_, err := strconv.ParseInt(v.Deployment.Annotations[RollbackAnnotation], 10, 64)
	return err == nil
}

func (v view) planRollback() Plan {
	revision, _ := strconv.ParseInt(v.Deployment.Annotations[RollbackAnnotation], 10, 64)
	desired := v.Deployment.DeepCopy()
	delete(desired.Annotations, RollbackAnnotation)
	rollback := &Rollback{Desired: desired}
	switch rs := v.rollbackTarget(&revision); {
	case revision == 0:
		rollback.Outcome = NoLastRevision
	case rs == nil:
		rollback.Outcome = RevisionNotFound
	case sameTemplate(&rs.Spec.Template, &v.Deployment.Spec.Template):
		rollback.Outcome = TemplateUnchanged
	default:
		rollback.Outcome, rollback.Revision = RolledBack, revision
		takeOver(desired, rs)
	}
	return Plan{Rollback: rollback, Note: fmt.Sprintf("annotation %s asks for revision %d", RollbackAnnotation, revision)}
}

// rollbackTarget returns the ReplicaSet of the revision; revision 0 is turned into the
// last one, and stays 0 where there is none. Of two with the same revision an old one is
// meant: the new one is about to be given a higher one.
func (v view) rollbackTarget(revision *int64) *appsv1.ReplicaSet {
	if *revision == 0 {
		*revision = v.lastRevision()
	}
	for _, rs := range append(slices.Clone(v.old), v.new) {
		if rs != nil && *revision != 0 && revisionOf(rs) == *revision {
			return rs
		}
	}
	return nil
}

// takeOver gives the Deployment the template and the annotations of a ReplicaSet. The
// annotations (a change-cause, for example) belong to the revision.
func takeOver(d *appsv1.Deployment, rs *appsv1.ReplicaSet) {
	template := withoutHash(&rs.Spec.Template)
	d.Spec.Template = *template.DeepCopy()
	maps.DeleteFunc(d.Annotations, func(key, _ string) bool { return travels(key) })
	for key, value := range rs.Annotations {
		if travels(key) {
			d.Annotations[key] = value
		}
	}
}
