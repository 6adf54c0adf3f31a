package rollout

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Snapshot is all that a decision about one Deployment may depend on, read once.
// Its objects are shared with the informer caches and are never written.
type Snapshot struct {
	Deployment *appsv1.Deployment
	// ReplicaSets holds those that the Deployment controls, in any order.
	ReplicaSets []*appsv1.ReplicaSet
	// Pods holds the Pods of each of them, by the ReplicaSet's UID. It is filled
	// only where the strategy needs it, which is Recreate; and with those of the new
	// one where the deadline has passed (IsOverdue).
	Pods map[types.UID][]*corev1.Pod
	// Now is the time of the decision.
	Now time.Time
}

// view is a Snapshot with the questions answered that every decision asks.
type view struct {
	Snapshot
	new        *appsv1.ReplicaSet   // nil while no ReplicaSet has the Deployment's template
	old        []*appsv1.ReplicaSet // all others, oldest first
	wanted     int64                // the Deployment's spec.replicas
	fenceposts fenceposts
}

func look(s Snapshot) (view, error) {
	fences, err := resolveFenceposts(s.Deployment)
	if err != nil {
		return view{}, err
	}
	sorted := slices.SortedFunc(slices.Values(s.ReplicaSets), byAge)
	v := view{Snapshot: s, wanted: replicas(s.Deployment.Spec.Replicas), fenceposts: fences}
	for _, rs := range sorted {
		// Several can match, for example after an upgrade of the API server that
		// gave templates a new default. The oldest one is chosen, so that the
		// choice stays the same.
		if v.new == nil && sameTemplate(&rs.Spec.Template, &s.Deployment.Spec.Template) {
			v.new = rs
		} else {
			v.old = append(v.old, rs)
		}
	}
	return v, nil
}

// all returns the new ReplicaSet, if there is one, and the old ones after it.
func (v view) all() []*appsv1.ReplicaSet {
	if v.new == nil {
		return v.old
	}
	return append([]*appsv1.ReplicaSet{v.new}, v.old...)
}

// active returns the ReplicaSets that have, or should have, Pods and can be scaled.
func (v view) active() []*appsv1.ReplicaSet {
	return slices.DeleteFunc(slices.Clone(v.all()), func(rs *appsv1.ReplicaSet) bool {
		return size(rs) == 0 || leaving(rs)
	})
}

// minAvailable is the number of available Pods that a rollout must leave.
func (v view) minAvailable() int64 {
	return v.wanted - v.fenceposts.unavailable
}

// complete reports whether the rollout has reached its end: every Pod is of the
// new template and available, and no other is left.
func (v view) complete() bool {
	return v.new != nil &&
		int64(v.new.Status.Replicas) == v.wanted &&
		sum(v.all(), actual) == v.wanted &&
		sum(v.all(), reportedAvailable) == v.wanted
}

func (v view) recreates() bool {
	return v.Deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// byAge orders the oldest first; names break ties, since creation times are whole
// seconds.
func byAge(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(
		a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	)
}

// replicas reads an optional size. The API server sets it to 1 where a user leaves it
// out, so nil is seen only in objects that never passed one.
func replicas(optional *int32) int64 {
	if optional == nil {
		return 1
	}
	return int64(*optional)
}

func size(rs *appsv1.ReplicaSet) int64 { return replicas(rs.Spec.Replicas) }

func actual(rs *appsv1.ReplicaSet) int64 { return int64(rs.Status.Replicas) }

func reportedAvailable(rs *appsv1.ReplicaSet) int64 { return int64(rs.Status.AvailableReplicas) }

// dependablyAvailable is the number of available Pods that will still be there when the
// ReplicaSet has reached its size: one that was just scaled down may go on reporting
// Pods that are already condemned, and one that is being deleted loses them all.
func dependablyAvailable(rs *appsv1.ReplicaSet) int64 {
	if leaving(rs) {
		return 0
	}
	return min(reportedAvailable(rs), size(rs))
}

// leaving reports whether the ReplicaSet is being deleted. Nothing but its status is
// written any more.
func leaving(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil }

func sum(sets []*appsv1.ReplicaSet, of func(*appsv1.ReplicaSet) int64) int64 {
	var total int64
	for _, rs := range sets {
		total += of(rs)
	}
	return total
}
