package simulation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/pods"
)

// eventuallyStable: once users and faults rest, what is wanted is reached, all statuses say
// what is there, and then nothing is written any more, not even when everything is
// looked at once again.
func (c *checker) eventuallyStable() {
	w := c.world
	if w.server.terminating {
		if n := len(w.server.deployments.rows) + len(w.server.replicaSets.rows) + len(w.server.pods.rows); n > 0 {
			c.fail("eventually stable", "%d objects are left in a namespace that is being deleted", n)
		}
		return
	}
	for _, d := range w.server.deployments.rows {
		c.deploymentIsWhereItShouldBe(d)
	}
	for _, rs := range w.server.replicaSets.rows {
		c.replicaSetIsWhereItShouldBe(rs)
	}
	for _, pod := range w.server.pods.rows {
		c.podIsWhereItShouldBe(pod)
	}
	if c.violation == nil {
		c.staysSilent()
	}
}

// staysSilent looks at everything once again.
func (c *checker) staysSilent() {
	w := c.world
	version := w.server.version
	for _, r := range w.readers() {
		r.resync()
	}
	w.syncAll()
	if w.server.version != version {
		c.fail("stable means silent", "%d writes were made for a resync of what is as it should be", w.server.version-version)
	}
	if at, set := w.timer(); set {
		c.fail("stable means silent", "a timer is set, for in %s", at-w.clock.elapsed)
	}
}

func (c *checker) deploymentIsWhereItShouldBe(d *appsv1.Deployment) {
	const property = "eventually stable"
	sets := c.setsOf(d.UID)
	c.statusIsTrue(d, sets)
	if d.DeletionTimestamp != nil {
		c.fail(property, "Deployment %s is still there", d.Name)
	}
	if d.Spec.Paused {
		c.pausedIsScaled(d, sets)
		return
	}
	if _, asked := d.Annotations[rollout.RollbackAnnotation]; asked {
		c.fail(property, "Deployment %s still asks for a rollback", d.Name)
	}
	most, least := bounds(d)
	sizes, old := 0, 0
	var current *appsv1.ReplicaSet
	for _, rs := range sets {
		sizes += int(size(rs))
		if imageOf(rs) == imageIn(&d.Spec.Template) && (current == nil || older(rs, current)) {
			current = rs
		}
	}
	if current != nil {
		old = sizes - int(size(current))
	}
	image := d.Spec.Template.Spec.Containers[0].Image
	switch {
	case current == nil:
		c.fail(property, "Deployment %s has no ReplicaSet of %s", d.Name, image)
	case sizes > most && old > least:
		c.fail(property, "Deployment %s asks for %d Pods, and at most %d may be", d.Name, sizes, most)
	case image != brokenImage && image != crashImage:
		c.isComplete(d, current, sets)
	default:
		c.isNotCalledComplete(d)
	}
}

// isNotCalledComplete checks a Deployment whose rollout cannot reach its end: once it has begun,
// also if the leader died right then, Progressing does not tell the success of the one before.
func (c *checker) isNotCalledComplete(d *appsv1.Deployment) {
	progressing := find(d, appsv1.DeploymentProgressing)
	if progressing != nil && progressing.Reason == rollout.ReasonComplete && d.Status.Replicas != d.Status.UpdatedReplicas {
		c.fail("eventually stable", "Progressing of Deployment %s says %s, and %d of %d Pods are updated",
			d.Name, progressing.Reason, d.Status.UpdatedReplicas, d.Status.Replicas)
	}
}

// pausedIsScaled: also a paused Deployment follows its size.
//
// Tolerated: Recreate in mid-rollout has nothing to share a size out over.
func (c *checker) pausedIsScaled(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) {
	if d.Spec.Strategy.RollingUpdate == nil || c.garbled {
		return
	}
	for _, rs := range sets {
		if sized := rs.Annotations[rollout.DesiredReplicasAnnotation]; size(rs) > 0 && sized != strconv.Itoa(int(*d.Spec.Replicas)) {
			c.fail("eventually stable", "ReplicaSet %s is sized for %s, and the paused Deployment %s wants %d", rs.Name, sized, d.Name, *d.Spec.Replicas)
		}
	}
}

func older(a, b *appsv1.ReplicaSet) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// isComplete checks a Deployment whose rollout nothing keeps from its end.
func (c *checker) isComplete(d *appsv1.Deployment, current *appsv1.ReplicaSet, sets []*appsv1.ReplicaSet) {
	const property = "eventually stable"
	for _, rs := range sets {
		switch {
		case rs == current && size(rs) != *d.Spec.Replicas:
			c.fail(property, "ReplicaSet %s wants %d Pods, and Deployment %s %d", rs.Name, size(rs), d.Name, *d.Spec.Replicas)
		case rs != current && size(rs) > 0:
			c.fail(property, "old ReplicaSet %s of Deployment %s wants %d Pods", rs.Name, d.Name, size(rs))
		case rs != current && !c.garbled && revision(rs.Annotations) >= revision(current.Annotations):
			c.fail(property, "ReplicaSet %s has revision %d, and the newer %s has %d", rs.Name, revision(rs.Annotations), current.Name, revision(current.Annotations))
		}
	}
	if limit := d.Spec.RevisionHistoryLimit; limit != nil && len(sets)-1 > int(*limit) {
		c.fail(property, "Deployment %s keeps %d old ReplicaSets, and its limit is %d", d.Name, len(sets)-1, *limit)
	}
	if d.Annotations[rollout.RevisionAnnotation] != current.Annotations[rollout.RevisionAnnotation] {
		c.fail(property, "Deployment %s has revision %s, and ReplicaSet %s has %s", d.Name,
			d.Annotations[rollout.RevisionAnnotation], current.Name, current.Annotations[rollout.RevisionAnnotation])
	}
	c.saysComplete(d)
}

// saysComplete checks the status of a Deployment whose rollout is complete.
func (c *checker) saysComplete(d *appsv1.Deployment) {
	const property = "eventually stable"
	if d.Status.AvailableReplicas != *d.Spec.Replicas || d.Status.UpdatedReplicas != *d.Spec.Replicas {
		c.fail(property, "Deployment %s has %d available and %d updated Pods of %d", d.Name, d.Status.AvailableReplicas, d.Status.UpdatedReplicas, *d.Spec.Replicas)
	}
	if progressing := find(d, appsv1.DeploymentProgressing); progressing != nil && progressing.Reason != rollout.ReasonComplete {
		c.fail(property, "Deployment %s is complete, and its Progressing condition says %s", d.Name, progressing.Reason)
	}
	if failure := find(d, appsv1.DeploymentReplicaFailure); failure != nil {
		c.fail(property, "Deployment %s is complete, and its ReplicaFailure condition says %s", d.Name, failure.Message)
	}
}

// statusIsTrue checks a Deployment's counts against the ReplicaSets.
func (c *checker) statusIsTrue(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) {
	var replicas, ready, available, terminating int32
	for _, rs := range sets {
		replicas, ready, available = replicas+rs.Status.Replicas, ready+rs.Status.ReadyReplicas, available+rs.Status.AvailableReplicas
		if rs.Status.TerminatingReplicas != nil {
			terminating += *rs.Status.TerminatingReplicas
		}
	}
	s := d.Status
	if s.ObservedGeneration != d.Generation || s.Replicas != replicas || s.ReadyReplicas != ready || s.AvailableReplicas != available ||
		s.TerminatingReplicas == nil || *s.TerminatingReplicas != terminating {
		c.fail("eventually stable", "the status of Deployment %s (generation %d of %d) says %d replicas, %d ready, %d available, and its ReplicaSets %d, %d, %d",
			d.Name, s.ObservedGeneration, d.Generation, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, replicas, ready, available)
	}
}

// replicaSetIsWhereItShouldBe checks a ReplicaSet against its Pods.
func (c *checker) replicaSetIsWhereItShouldBe(rs *appsv1.ReplicaSet) {
	const property = "eventually stable"
	c.ownerIsWhoItShouldBe(rs)
	active, ready := int32(0), int32(0)
	for _, pod := range c.world.server.pods.rows {
		if belongs(pod, rs) {
			active++
			if pods.IsReady(pod) {
				ready++
			}
		}
	}
	if s := rs.Status; active != size(rs) || s.Replicas != active || s.ReadyReplicas != ready || s.AvailableReplicas != ready ||
		s.ObservedGeneration != rs.Generation || s.TerminatingReplicas == nil || *s.TerminatingReplicas != 0 || len(s.Conditions) > 0 {
		c.fail(property, "ReplicaSet %s wants %d Pods, has %d, %d of them ready, and reports (for generation %d of %d) %d, %d and %d available, %d conditions",
			rs.Name, size(rs), active, ready, s.ObservedGeneration, rs.Generation, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, len(s.Conditions))
	}
}

// ownerIsWhoItShouldBe checks who controls a ReplicaSet.
func (c *checker) ownerIsWhoItShouldBe(rs *appsv1.ReplicaSet) {
	for _, d := range c.world.server.deployments.rows {
		if controllerOf(rs) == "" && matches(d.Spec.Selector, rs.Labels) || controllerOf(rs) == d.UID && !matches(d.Spec.Selector, rs.Labels) {
			c.fail("eventually stable", "ReplicaSet %s is not adopted, or not released", rs.Name)
		}
	}
}

// podIsWhereItShouldBe checks who controls a Pod.
func (c *checker) podIsWhereItShouldBe(pod *corev1.Pod) {
	if !pods.IsActive(pod) {
		return
	}
	for _, rs := range c.world.server.replicaSets.rows {
		if controllerOf(pod) == "" && matches(rs.Spec.Selector, pod.Labels) || controllerOf(pod) == rs.UID && !matches(rs.Spec.Selector, pod.Labels) {
			c.fail("eventually stable", "Pod %s is not adopted, or not released", pod.Name)
		}
	}
}
