package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/deployment/util"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// step is what each of the two loops makes of one world.
type step struct {
	before, ours, theirs *world
	// decided is the world that our plan was made on: before or, where ours reports first
	// that the Deployment was resumed, the one after that.
	decided *world
	plan    rollout.Plan // ours
	now     time.Time
	refusal error
}

// newSet returns the ReplicaSet that has the Deployment's template; nil if there is none.
func (s step) newSet() *appsv1.ReplicaSet {
	return util.FindNewReplicaSet(s.before.deployment, s.before.owned())
}

func (s step) rolls() bool {
	return s.before.deployment.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType
}

// scales reports whether the built-in only scales: it sees a new size, or is paused.
func (s step) scales() bool {
	if s.before.deployment.Spec.Paused {
		return true
	}
	for _, rs := range s.before.owned() {
		desired, noted := util.GetDesiredReplicasAnnotation(klog.Logger{}, rs)
		if sizeOf(rs.Spec.Replicas) > 0 && noted && desired != sizeOf(s.before.deployment.Spec.Replicas) {
			return true
		}
	}
	return false
}

// judges reports whether the built-in judges the progress of a rollout.
func (s step) judges() bool {
	return s.before.deployment.DeletionTimestamp == nil && !s.scales()
}

// leaving reports whether a ReplicaSet is being deleted.
func (s step) leaving() bool {
	return slices.ContainsFunc(s.before.owned(), func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil })
}

// overAvailable reports whether a ReplicaSet has more available Pods than it should have Pods.
func (s step) overAvailable() bool {
	return slices.ContainsFunc(s.before.owned(), func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas > sizeOf(rs.Spec.Replicas) })
}

// isNew reports whether a name is that of the new ReplicaSet.
func (s step) isNew(name string) bool {
	rs := s.newSet()
	return rs != nil && rs.Name == name
}

// oldOverAvailable reports whether that is an old one with a size.
func (s step) oldOverAvailable() bool {
	return slices.ContainsFunc(s.before.owned(), func(rs *appsv1.ReplicaSet) bool {
		return !s.isNew(rs.Name) && sizeOf(rs.Spec.Replicas) > 0 && rs.Status.AvailableReplicas > sizeOf(rs.Spec.Replicas)
	})
}

// kept reports whether the built-in has left a field of the Deployment as it was.
func (s step) kept(d difference) bool {
	return d.object == "" && d.theirs == valueOf(s.before, d)
}

// untouched reports whether our plan has left a field as it was.
func (s step) untouched(d difference) bool {
	return d.ours == valueOf(s.decided, d)
}

// tellsRevision reports whether ours has given the Deployment the revision of the new
// ReplicaSet that ours leaves, or has left it as it was where that has none, or a former one.
func (s step) tellsRevision(d difference) bool {
	rs := util.FindNewReplicaSet(s.ours.deployment, s.ours.owned())
	if rs == nil || d.object != "" || d.field != "annotation "+util.RevisionAnnotation {
		return false
	}
	return s.untouched(d) || d.ours == strconv.Quote(rs.Annotations[util.RevisionAnnotation])
}

// rollsBackToLast reports whether the difference is one of what is taken over from the last
// revision, which the user has asked for without its number.
func (s step) rollsBackToLast(d difference) bool {
	revision, err := strconv.ParseInt(s.before.deployment.Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	return s.plan.Rollback != nil && err == nil && revision == 0 && rolledBack(d) && d.field != "annotation "+appsv1.DeprecatedRollbackTo
}

// sizesDiffer tells which of the two makes a ReplicaSet larger: above 0 if ours does, below if
// theirs does, and 0 if neither or if one of them does not have it.
func (s step) sizesDiffer(name string) int {
	ours, theirs := s.ours.sets[name], s.theirs.sets[name]
	if ours == nil || theirs == nil {
		return 0
	}
	return cmp.Compare(sizeOf(ours.Spec.Replicas), sizeOf(theirs.Spec.Replicas))
}

// growsAndShrinks reports whether the built-in makes a ReplicaSet larger and another one smaller,
// and ours does only one of the two.
func (s step) growsAndShrinks() bool {
	ourGrows, ourShrinks := s.moves(s.ours.sets)
	grows, shrinks := s.moves(s.theirs.sets)
	return grows && shrinks && (!ourGrows || !ourShrinks)
}

// moves reports whether some ReplicaSet is larger than before, and whether some is smaller.
func (s step) moves(after map[string]*appsv1.ReplicaSet) (grows, shrinks bool) {
	for name, before := range s.before.sets {
		if rs := after[name]; rs != nil {
			order := cmp.Compare(sizeOf(rs.Spec.Replicas), sizeOf(before.Spec.Replicas))
			grows, shrinks = grows || order > 0, shrinks || order < 0
		}
	}
	return grows, shrinks
}

// failsToCreate reports whether the built-in could not create a new ReplicaSet that it wanted.
func (s step) failsToCreate() bool {
	return s.newSet() == nil && len(s.theirs.sets) == len(s.before.sets)
}

// otherMessage reports whether both say the same of a condition in other words.
func (s step) otherMessage(kind appsv1.DeploymentConditionType) bool {
	ours := util.GetDeploymentCondition(s.ours.deployment.Status, kind)
	theirs := util.GetDeploymentCondition(s.theirs.deployment.Status, kind)
	return ours != nil && theirs != nil && ours.Status == theirs.Status && ours.Reason == theirs.Reason && ours.Message != theirs.Message
}

func (s step) created() bool {
	return s.plan.Create != nil && s.ours.sets[s.plan.Create.ReplicaSet.Name] != nil && s.before.sets[s.plan.Create.ReplicaSet.Name] == nil
}

// cutBehindDot reports whether the built-in made, or tried to make, a ReplicaSet with a name
// like "web.-75c7f9d6".
func (s step) cutBehindDot() bool {
	theirs := util.GetDeploymentCondition(s.theirs.deployment.Status, appsv1.DeploymentProgressing)
	tried := theirs != nil && strings.Contains(theirs.Message, ".-")
	return tried || slices.ContainsFunc(slices.Collect(maps.Keys(s.theirs.sets)), func(name string) bool {
		return s.before.sets[name] == nil && strings.Contains(name, ".-")
	})
}

// theirReason reports whether the built-in gives one of these reasons of the progress.
func (s step) theirReason(reasons ...string) bool {
	theirs := util.GetDeploymentCondition(s.theirs.deployment.Status, appsv1.DeploymentProgressing)
	return theirs != nil && slices.Contains(reasons, theirs.Reason)
}

// active counts the ReplicaSets that have a size.
func (s step) active() int {
	count := 0
	for _, rs := range s.before.owned() {
		if sizeOf(rs.Spec.Replicas) > 0 {
			count++
		}
	}
	return count
}

// maximaKnown reports whether each active ReplicaSet has noted of which maximum its size is a
// share.
func (s step) maximaKnown() bool {
	for _, rs := range s.before.owned() {
		maximum, err := strconv.ParseUint(rs.Annotations[util.MaxReplicasAnnotation], 10, 31)
		if sizeOf(rs.Spec.Replicas) > 0 && (err != nil || maximum == 0) {
			return false
		}
	}
	return true
}

// completeWas reports whether the last status called the rollout complete.
func (s step) completeWas() bool {
	return util.DeploymentComplete(withSize(s.before.deployment), &s.before.deployment.Status)
}

// completeIs reports whether it is, as far as there is a new ReplicaSet.
func (s step) completeIs() bool {
	return s.newSet() != nil && util.DeploymentComplete(withSize(s.before.deployment), &s.ours.deployment.Status)
}

// largestRevision reports whether no revision is left after that of some ReplicaSet.
func (s step) largestRevision() bool {
	return slices.ContainsFunc(s.before.owned(), func(rs *appsv1.ReplicaSet) bool {
		revision, err := util.Revision(rs)
		return err == nil && revision == math.MaxInt64
	})
}

// garbageRevision reports whether some ReplicaSet has a revision that no loop has given it.
func (s step) garbageRevision() bool {
	for _, rs := range s.before.owned() {
		text, set := rs.Annotations[util.RevisionAnnotation]
		number, err := strconv.ParseInt(text, 10, 64)
		if set && (err != nil || number <= 0 || text != fmt.Sprint(number)) {
			return true
		}
	}
	return false
}

// sizeNotes returns the annotations of a ReplicaSet that has been sized now.
func (s step) sizeNotes() map[string]string {
	var rs appsv1.ReplicaSet
	d := withSize(s.before.deployment)
	util.SetReplicasAnnotations(&rs, *d.Spec.Replicas, *d.Spec.Replicas+util.MaxSurge(*d))
	return rs.Annotations
}

// withCreated returns the world before the step, with the ReplicaSet that theirs created.
func (s step) withCreated() *world {
	w := s.before.clone()
	for name, rs := range s.theirs.sets {
		if w.sets[name] == nil {
			w.sets[name] = rs
		}
	}
	return w
}

// unavailable is what unavailableReplicas should be by the sizes in a world.
func unavailable(w *world) int32 {
	var missing int32
	for _, rs := range w.owned() {
		missing += sizeOf(rs.Spec.Replicas) - rs.Status.AvailableReplicas
	}
	return max(0, missing)
}

// String tells what is needed to understand the step.
func (s step) String() string {
	var lines strings.Builder
	d := s.before.deployment
	fmt.Fprintf(&lines, "%s paused=%v deleting=%v generation=%d deadline=%s history=%s collisions=%s refused=%v\n  annotations %v\n  %s\n", describe(withSize(d)), d.Spec.Paused,
		d.DeletionTimestamp != nil, d.Generation, text(d.Spec.ProgressDeadlineSeconds), text(d.Spec.RevisionHistoryLimit), text(d.Status.CollisionCount), s.refusal != nil, d.Annotations, tellStatus(d.Status))
	for _, rs := range s.before.owned() {
		mark := ""
		if rs == s.newSet() {
			mark = "(new)"
		}
		fmt.Fprintf(&lines, "%s%s size=%s minReady=%d generation=%d deleting=%v age=%s annotations %v\n  %d there, %d ready, %d available, %s terminating, observed %d, %s\n", rs.Name, mark, text(rs.Spec.Replicas), rs.Spec.MinReadySeconds, rs.Generation,
			rs.DeletionTimestamp != nil, s.now.Sub(rs.CreationTimestamp.Time), rs.Annotations, rs.Status.Replicas, rs.Status.ReadyReplicas, rs.Status.AvailableReplicas,
			text(rs.Status.TerminatingReplicas), rs.Status.ObservedGeneration, tellFailure(rs))
	}
	fmt.Fprintf(&lines, "%d pods\nour plan: %s\n", len(s.before.pods), tellPlan(s.plan))
	return lines.String()
}

func tellStatus(status appsv1.DeploymentStatus) string {
	told := fmt.Sprintf("%d there, %d updated, %d ready, %d available, observed %d", status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas, status.ObservedGeneration)
	for _, c := range status.Conditions {
		told += fmt.Sprintf(", %s=%s %s %q of %s", c.Type, c.Status, c.Reason, c.Message, c.LastUpdateTime.UTC())
	}
	return told
}

func tellFailure(rs *appsv1.ReplicaSet) string {
	for _, c := range rs.Status.Conditions {
		return fmt.Sprintf("%s=%s %s %q", c.Type, c.Status, c.Reason, c.Message)
	}
	return "no failure"
}

func tellPlan(plan rollout.Plan) string {
	told := plan.Note
	if plan.Create != nil {
		told += fmt.Sprintf("; create %s with size %d, %s", plan.Create.ReplicaSet.Name, *plan.Create.ReplicaSet.Spec.Replicas, plan.Create.Why)
	}
	for _, change := range plan.Change {
		_, to, _ := change.Resizes()
		told += fmt.Sprintf("; %s to %d, %s", change.Observed.Name, to, change.Why)
	}
	for _, deletion := range plan.Delete {
		told += fmt.Sprintf("; delete %s, %s", deletion.ReplicaSet.Name, deletion.Why)
	}
	return told
}
