package rollout

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/pkg/controllers/pods"
)

// recreate takes one step of a Recreate rollout: old ReplicaSets to zero, then wait until
// the last of their Pods has stopped, then the new ReplicaSet at full size. Two
// revisions never run at the same time.
func (d *draft) recreate() {
	if d.new == nil && d.taken() != nil && d.doubts() {
		return // with the old Pods still there
	}
	stopped := false
	for _, rs := range d.old {
		if size(rs) > 0 && !leaving(rs) {
			d.resize(rs, 0, "strategy Recreate stops all old Pods before it makes new ones")
			stopped = true
		}
	}
	if stopped || d.awaitsOldPods() {
		return
	}
	switch {
	case d.new == nil && d.doubts():
	case d.new == nil:
		d.createNew(d.wanted, "no ReplicaSet has the Deployment's template, and no old Pod runs")
	case leaving(d.new):
		d.note = fmt.Sprintf("waiting for ReplicaSet %s to be gone, it is being deleted", d.new.Name)
	case size(d.new) != d.wanted:
		d.resize(d.new, d.wanted, fmt.Sprintf("no old Pod runs, and %d Pods are wanted", d.wanted))
	case d.complete():
		d.note = "the rollout is complete"
		d.history()
	default:
		d.note = fmt.Sprintf("waiting for Pods to become available: %d of %d are", dependablyAvailable(d.new), d.wanted)
	}
}

// awaitsOldPods reports whether Pods of old ReplicaSets run, or may still be made, and notes it.
func (d *draft) awaitsOldPods() bool {
	if running := d.oldPodsRunning(); running > 0 {
		d.note = fmt.Sprintf("waiting for %d old Pods to stop", running)
		return true
	}
	if late := slices.IndexFunc(d.old, mayStillCreate); late >= 0 {
		d.note = fmt.Sprintf("waiting for the ReplicaSet loop to see that ReplicaSet %s is to have no Pods", d.old[late].Name)
		return true
	}
	return false
}

// oldPodsRunning counts the Pods of old ReplicaSets that run or may run, those included that
// are being deleted. The ReplicaSets' own counts are asked too: they may know of
// Pods that the cache has not shown yet.
func (d *draft) oldPodsRunning() int64 {
	var running int64
	for _, rs := range d.old {
		var seen int64
		for _, pod := range d.Pods[rs.UID] {
			if !pods.IsTerminal(pod) {
				seen++
			}
		}
		running += max(seen, actual(rs))
	}
	return running
}

// mayStillCreate reports whether Pods of the ReplicaSet may still come, or have come and are not
// counted yet, although none is wanted any more: the ReplicaSet loop has not acknowledged that.
func mayStillCreate(rs *appsv1.ReplicaSet) bool {
	return !leaving(rs) && rs.Status.ObservedGeneration < rs.Generation
}

// createNew plans the new ReplicaSet with the given size.
func (d *draft) createNew(count int64, why string) {
	rs := newReplicaSet(d.Deployment)
	d.bookkeep(rs)
	d.markSize(rs)
	replicas := int32(count)
	rs.Spec.Replicas = &replicas
	d.create = &Creation{ReplicaSet: rs, Why: why}
}
