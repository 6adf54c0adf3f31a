package simulation

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/pods"
)

// A Deployment is quiet from when its rollout is complete, in truth and not only by the status,
// for as long as users change nothing but its template (and what does not matter), and no Pod
// is lost, and no clock jumps. A quiet Deployment's bounds hold at every moment for the Pods that are really
// there, whatever caches, answers, processes and clocks do.

// becomesQuiet looks whether a Deployment is where it should be.
func (c *checker) becomesQuiet(d *appsv1.Deployment) {
	wanted, status := *d.Spec.Replicas, d.Status
	reported := status.ObservedGeneration == d.Generation && status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted && d.DeletionTimestamp == nil
	if reported && c.world.seen() && c.world.process.clock.offset == 0 && len(c.world.inFlight) == 0 && !c.strays() && c.hasAllItWants(d) {
		c.quiet[d.UID] = true
	}
}

// strays reports whether there is an object without a controller, which somebody may adopt.
func (c *checker) strays() bool {
	return slices.ContainsFunc(c.world.server.pods.rows, func(pod *corev1.Pod) bool { return controllerOf(pod) == "" }) ||
		slices.ContainsFunc(c.world.server.replicaSets.rows, func(rs *appsv1.ReplicaSet) bool { return controllerOf(rs) == "" })
}

// hasAllItWants reports whether all Pods of a Deployment are of its template, and as many as it
// wants, and ready, and known to have been so for minReadySeconds.
func (c *checker) hasAllItWants(d *appsv1.Deployment) bool {
	found := false
	for _, rs := range c.setsOf(d.UID) {
		active, ready, running := c.countPods(rs)
		current := imageOf(rs) == imageIn(&d.Spec.Template)
		asWanted := size(rs) == *d.Spec.Replicas && active == int(size(rs)) && ready == active && int(rs.Status.AvailableReplicas) == active
		switch {
		case rs.DeletionTimestamp != nil || !matches(rs.Spec.Selector, rs.Labels) || rs.Status.ObservedGeneration != rs.Generation,
			current && (found || !asWanted),
			!current && (size(rs) > 0 || running > 0):
			return false
		}
		found = found || current
	}
	return found
}

// seen reports whether the leader has read all that happened to ReplicaSets and Pods.
func (w *World) seen() bool {
	return w.process != nil && w.process.loops[0].caches.lag() == 0 && w.process.loops[1].caches.lag() == 0
}

// keepsQuiet looks at what a user did to a Deployment.
func (c *checker) keepsQuiet(ch change[*appsv1.Deployment]) {
	before, after := ch.old.Spec, ch.new.Spec
	before.Template, before.ProgressDeadlineSeconds, before.RevisionHistoryLimit = after.Template, after.ProgressDeadlineSeconds, after.RevisionHistoryLimit
	if !apiequality.Semantic.DeepEqual(before, after) || ch.new.DeletionTimestamp != nil {
		c.disturbed(ch.new.UID)
	}
}

// disturbed notes that somebody else takes part in what becomes of a Deployment's Pods.
func (c *checker) disturbed(deployment types.UID) { delete(c.quiet, deployment) }

// disturbedByPod looks at what somebody but the loops did to a Pod.
func (c *checker) disturbedByPod(ch change[*corev1.Pod]) {
	if ch.old == nil || ch.new == nil && pods.IsActive(ch.old) {
		clear(c.quiet)
		return
	}
	if ch.new == nil {
		return // it had stopped already
	}
	lost := pods.IsActive(ch.old) && !pods.IsActive(ch.new) || pods.IsReady(ch.old) && !pods.IsReady(ch.new)
	if lost || controllerOf(ch.old) != controllerOf(ch.new) || !apiequality.Semantic.DeepEqual(ch.old.Labels, ch.new.Labels) {
		clear(c.quiet)
	}
}

// boundsHoldInTruth: of a quiet Deployment, the sizes stay within replicas + maxSurge, and the
// ready Pods at or above replicas - maxUnavailable. With
// Recreate, Pods of two revisions never run at the same time.
func (c *checker) boundsHoldInTruth(deployment types.UID) {
	if !c.quiet[deployment] {
		return
	}
	if c.world.landing {
		c.disturbed(deployment)
		return
	}
	d := c.find(deployment)
	if d == nil {
		return
	}
	most, least := bounds(d)
	sizes, ready, revisions := 0, 0, 0
	for _, rs := range c.setsOf(deployment) {
		_, ok, running := c.countPods(rs)
		sizes, ready = sizes+int(size(rs)), ready+ok
		if running > 0 {
			revisions++
		}
	}
	switch {
	case d.Spec.Strategy.RollingUpdate == nil:
		if revisions > 1 {
			c.fail("Recreate never overlaps", "Pods of %d revisions of Deployment %s run at the same time", revisions, d.Name)
		}
	case sizes > most:
		c.fail("surge is kept in truth", "Deployment %s asks for %d Pods, and at most %d may be", d.Name, sizes, most)
	case ready < least:
		c.fail("availability is kept in truth", "Deployment %s has %d ready Pods, and at least %d must be", d.Name, ready, least)
	}
}

// thereAndBack is what is tolerated of a Deployment's availability: a ReplicaSet that was made
// smaller, and larger again before that was carried out and reported, or before the loop that
// did it sees that, reports Pods as available that are condemned or gone, and the Deployment loop
// believes it. This happens to the built-in loops too, when a rollout is undone within
// the few milliseconds that it takes.
func (c *checker) thereAndBack(ch change[*appsv1.ReplicaSet]) {
	active, _, _ := c.countPods(ch.old)
	if before := int(size(ch.old)); max(active, int(ch.old.Status.Replicas), c.world.seenPods(ch.old)) > before {
		c.disturbed(controllerOf(ch.new))
	}
}

// seenPods is how many active Pods of a ReplicaSet the leader's ReplicaSet loop sees.
func (w *World) seenPods(rs *appsv1.ReplicaSet) int {
	seen := 0
	if w.process != nil {
		for _, pod := range w.process.loops[1].caches.pods.rows {
			if belongs(pod, rs) {
				seen++
			}
		}
	}
	return seen
}

func (c *checker) find(deployment types.UID) *appsv1.Deployment {
	for _, d := range c.world.server.deployments.rows {
		if d.UID == deployment {
			return d
		}
	}
	return nil
}
