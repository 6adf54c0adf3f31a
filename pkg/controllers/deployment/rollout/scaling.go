package rollout

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// sizeChanged reports whether the user has changed spec.replicas since some active
// ReplicaSet was last sized. Then the ReplicaSets are scaled where they are in the
// rollout, before the rollout goes on. A Recreate Deployment in mid-rollout has nothing
// to spread a new size over: its rollout ends with the new size by itself.
func (v view) sizeChanged() bool {
	active := v.active()
	if v.recreates() && len(active) > 1 {
		return false
	}
	return slices.ContainsFunc(active, func(rs *appsv1.ReplicaSet) bool {
		sizedFor, known := annotatedSize(rs, DesiredReplicasAnnotation)
		return known && sizedFor != v.wanted
	})
}

// scale gives the active ReplicaSets the sizes that the Deployment's new size asks for,
// without moving the rollout.
func (d *draft) scale() {
	d.scaling = true
	active := d.active()
	switch {
	case len(active) <= 1:
		d.scaleOne(active)
	case d.saturated():
		for _, rs := range d.old {
			if size(rs) > 0 && !leaving(rs) {
				d.resize(rs, 0, fmt.Sprintf("all %d wanted Pods are new and available", d.wanted))
			}
		}
	case !d.recreates():
		d.spread(active)
	}
}

// scaleOne gives the whole size to the only active ReplicaSet or, where none is active, to
// the newest: no rollout is under way.
func (d *draft) scaleOne(active []*appsv1.ReplicaSet) {
	var rs *appsv1.ReplicaSet
	switch old := slices.DeleteFunc(slices.Clone(d.old), leaving); {
	case len(active) == 1:
		rs = active[0]
	case d.new != nil && !leaving(d.new):
		rs = d.new
	case len(old) > 0:
		rs = old[len(old)-1]
	default:
		d.note = "there is no ReplicaSet to scale"
		return
	}
	// An active ReplicaSet that happens to have the right size must be marked as sized
	// too, or it would look unscaled for ever and the rollout never go on.
	sizedFor, known := annotatedSize(rs, DesiredReplicasAnnotation)
	if size(rs) != d.wanted || size(rs) > 0 && known && sizedFor != d.wanted {
		d.resize(rs, d.wanted, fmt.Sprintf("%d Pods are wanted, and no other ReplicaSet is active", d.wanted))
	}
}

// saturated reports whether the new ReplicaSet has all the Pods that the Deployment
// wants, knows it, and all are available: the old ones are not needed any more.
func (v view) saturated() bool {
	if v.new == nil {
		return false
	}
	sizedFor, known := annotatedSize(v.new, DesiredReplicasAnnotation)
	return known && sizedFor == v.wanted && size(v.new) == v.wanted && reportedAvailable(v.new) == v.wanted
}

// spread distributes what the Deployment has grown or shrunk by over the active
// ReplicaSets, in proportion to their sizes, so that a broken new revision gets no
// more of it than its share. What rounding leaves goes to the largest.
func (d *draft) spread(active []*appsv1.ReplicaSet) {
	var allowed int64
	if d.wanted > 0 {
		allowed = d.wanted + d.fenceposts.surge
	}
	total := sum(d.all(), size)
	change := allowed - total
	slices.SortFunc(active, largestFirst(change > 0))
	shares := make([]int64, len(active))
	left := change
	for i, rs := range active {
		shares[i] = d.share(rs, allowed, change, left)
		left -= shares[i]
	}
	shares[0] += left
	why := fmt.Sprintf("%d Pods are wanted and %d are asked for in all; each active ReplicaSet takes its share of the difference", d.wanted, total)
	for i, rs := range active {
		d.resize(rs, max(0, min(size(rs)+shares[i], math.MaxInt32)), why)
	}
}

// share is what one ReplicaSet grows (or, negative, shrinks) by: its size was a share of
// the total allowed then, and becomes the same share of the total allowed now, but
// never takes more than is left of the change, and stays as it is once nothing is left. Where
// there is something to give nobody shrinks, and where there is something to take nobody
// grows, whatever an annotation from an earlier size says: that would only move Pods
// from one to the other, working ones to a broken revision perhaps, or add far more than the
// others can give.
func (d *draft) share(rs *appsv1.ReplicaSet, allowed, change, left int64) int64 {
	if left == 0 {
		return 0
	}
	if d.wanted == 0 {
		return max(-size(rs), left)
	}
	before, known := annotatedSize(rs, MaxReplicasAnnotation)
	if !known || before == 0 {
		before = int64(d.Deployment.Status.Replicas)
	}
	if before <= 0 {
		return 0
	}
	fraction := scaled(size(rs), allowed, before) - size(rs)
	if change > 0 {
		return max(0, min(fraction, left))
	}
	return min(0, max(fraction, left))
}

// scaled returns size × allowed ÷ before, rounded half up. The factors are below 2³¹ and
// 2³³, so the product needs all 64 bits.
func scaled(size, allowed, before int64) int64 {
	product := uint64(size) * uint64(allowed)
	quotient, remainder := product/uint64(before), product%uint64(before)
	if 2*remainder >= uint64(before) {
		quotient++
	}
	return int64(min(quotient, math.MaxInt64))
}

// largestFirst orders ReplicaSets by size. Among equals the newer comes first when there
// is something to give, and the older when there is something to take.
func largestFirst(newerFirst bool) func(a, b *appsv1.ReplicaSet) int {
	return func(a, b *appsv1.ReplicaSet) int {
		age := byAge(a, b)
		if newerFirst {
			age = -age
		}
		return cmp.Or(cmp.Compare(size(b), size(a)), age)
	}
}

// byRevision orders the lowest revision first, and the older of two of the same.
func byRevision(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(cmp.Compare(revisionOf(a), revisionOf(b)), byAge(a, b))
}
