package simulation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// bounds returns what a Deployment allows: the most that may be asked for in all, and the
// fewest that must be available. It says it in its own words, not in the core's.
func bounds(d *appsv1.Deployment) (most, least int) {
	wanted := int(*d.Spec.Replicas)
	if d.Spec.Strategy.RollingUpdate == nil {
		return wanted, 0
	}
	surge, _ := intstr.GetScaledValueFromIntOrPercent(d.Spec.Strategy.RollingUpdate.MaxSurge, wanted, true)
	unavailable, _ := intstr.GetScaledValueFromIntOrPercent(d.Spec.Strategy.RollingUpdate.MaxUnavailable, wanted, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return wanted + surge, max(0, wanted-unavailable)
}

// knownSize returns the size of a ReplicaSet as the loop knows it, or should: from its cache, or
// from what this process has written since, whether it was told so or not.
func (c *checker) knownSize(s *syncing, rs *appsv1.ReplicaSet) int {
	if written := c.sizes[rs.UID]; written.process == s.process.number && written.version > s.seen[1] {
		return int(written.size)
	}
	return int(size(rs))
}

// known returns the ReplicaSets that the loop sees, and those that it made and does not see.
func (c *checker) known(s *syncing) []*appsv1.ReplicaSet {
	known := s.sets
	for _, rs := range c.world.server.replicaSets.rows {
		written := c.sizes[rs.UID]
		if controllerOf(rs) == s.deployment.UID && written.process == s.process.number && written.version > s.seen[1] && !contains(s.sets, rs) {
			known = append(known[:len(known):len(known)], rs)
		}
	}
	return known
}

func contains(sets []*appsv1.ReplicaSet, rs *appsv1.ReplicaSet) bool {
	for _, other := range sets {
		if other.UID == rs.UID {
			return true
		}
	}
	return false
}

// surgeIsKept: whenever the Deployment loop creates a ReplicaSet or makes one larger, the sum
// of all sizes stays within replicas + maxSurge, lost answers included.
//
// Tolerated: it goes by the Deployment that its cache shows, and by the sizes that others gave
// as far as its cache shows them; a write of its own that is carried out after it was given up
// on, and looked up in vain, counts as that of others; ReplicaSets that are being deleted do not count.
func (c *checker) surgeIsKept(s *syncing, grown *appsv1.ReplicaSet) {
	sum := int(size(grown))
	for _, rs := range c.known(s) {
		if rs.UID != grown.UID && rs.DeletionTimestamp == nil {
			sum += c.knownSize(s, rs)
		}
	}
	if most, _ := bounds(s.deployment); sum > most {
		c.fail("surge is kept", "%d Pods are asked for in all once ReplicaSet %s wants %d, and at most %d may be", sum, grown.Name, size(grown), most)
	}
}

// isScaling reports whether the Deployment that the loop sees is paused or has a new size, so
// that all of its ReplicaSets may change.
func isScaling(s *syncing) bool {
	if s.deployment.Spec.Paused {
		return true
	}
	wanted := strconv.Itoa(int(*s.deployment.Spec.Replicas))
	for _, rs := range s.sets {
		if size(rs) > 0 && rs.Annotations[rollout.DesiredReplicasAnnotation] != wanted {
			return true
		}
	}
	return false
}

// scalingGoesOneWay: where a new size is shared out, ReplicaSets grow or shrink, not both: that
// would only move Pods from one to the other.
func (c *checker) scalingGoesOneWay(s *syncing) {
	if s.grew && s.shrank && isScaling(s) {
		c.fail("scaling goes one way", "Deployment %s has a new size, and some ReplicaSets grew and some shrank", s.key.Name)
	}
}

// oldNeverGrows: a rollout never makes an old ReplicaSet larger.
//
// Tolerated: a new size of the Deployment is shared out among all that are active.
func (c *checker) oldNeverGrows(s *syncing, rs *appsv1.ReplicaSet, from int32) {
	if imageOf(rs) != imageIn(&s.deployment.Spec.Template) && !isScaling(s) {
		c.fail("an old ReplicaSet never grows", "ReplicaSet %s of %s grew from %d to %d, and the Deployment has %s",
			rs.Name, imageOf(rs), from, size(rs), imageIn(&s.deployment.Spec.Template))
	}
}

// imageOf is what tells the template of a ReplicaSet from others: its image and, if admission
// has changed it, that.
func imageOf(rs *appsv1.ReplicaSet) string { return imageIn(&rs.Spec.Template) }

func imageIn(template *corev1.PodTemplateSpec) string {
	return template.Spec.Containers[0].Image + template.Annotations[injected]
}

// availabilityIsKept: whenever the Deployment loop makes a ReplicaSet smaller, the Pods that
// are reported available and asked for stay at least replicas - maxUnavailable, or
// are no fewer than before.
//
// Tolerated: Recreate; and a new size is shared out in proportion, broken Pods or not.
func (c *checker) availabilityIsKept(s *syncing, ch change[*appsv1.ReplicaSet]) {
	if s.deployment.Spec.Strategy.RollingUpdate == nil || isScaling(s) {
		return
	}
	before, after := 0, 0
	for _, rs := range c.known(s) {
		if rs.DeletionTimestamp != nil {
			continue
		}
		available, wants := int(rs.Status.AvailableReplicas), c.knownSize(s, rs)
		before += min(available, wants)
		if rs.UID == ch.new.UID {
			wants = int(size(ch.new))
		}
		after += min(available, wants)
	}
	if _, least := bounds(s.deployment); after < min(before, least) {
		c.fail("availability is kept", "%d of %d available Pods are still asked for once ReplicaSet %s wants %d, and at least %d must be",
			after, before, ch.new.Name, size(ch.new), least)
	}
}

// pausedCreatesNothing: a paused Deployment gets no new ReplicaSet.
func (c *checker) pausedCreatesNothing(s *syncing, rs *appsv1.ReplicaSet) {
	if s.deployment.Spec.Paused {
		c.fail("paused creates nothing", "ReplicaSet %s was created", rs.Name)
	}
}

// shrinksToNothing: the Deployment loop deletes only ReplicaSets that want no Pods.
func (c *checker) shrinksToNothing(by *writer, rs *appsv1.ReplicaSet) {
	if by.sync != nil && (size(rs) > 0 || rs.Status.Replicas > 0) {
		c.fail("history keeps what has Pods", "ReplicaSet %s was deleted, which wanted %d Pods and had %d", rs.Name, size(rs), rs.Status.Replicas)
	}
	delete(c.sizes, rs.UID)
}

// revisionOfReplicaSetRises: the loops only raise the revision of a ReplicaSet.
func (c *checker) revisionOfReplicaSetRises(ch change[*appsv1.ReplicaSet]) {
	if before, after := revision(ch.old.Annotations), revision(ch.new.Annotations); after < before {
		c.fail("revisions only rise", "that of ReplicaSet %s went from %d to %d", ch.new.Name, before, after)
	}
}

// revisionOfDeploymentRises: the loops only raise the revision of a Deployment.
//
// Tolerated: users who write revisions or take ReplicaSets away; a process whose first list of
// ReplicaSets was old, from an API server that cannot stream lists; and a paused Deployment whose
// history limit is 0 forgets all of them, so that the next one is the first again, as under the
// built-in loops: the Deployment's own revision counts for nothing, since manifests carry it along.
func (c *checker) revisionOfDeploymentRises(ch change[*appsv1.Deployment]) {
	if before, after := revision(ch.old.Annotations), revision(ch.new.Annotations); after < before && !c.garbled {
		c.fail("revisions only rise", "that of Deployment %s went from %d to %d", ch.new.Name, before, after)
	}
}

// wasLast reports whether no ReplicaSet of a higher revision is left.
func (c *checker) wasLast(gone *appsv1.ReplicaSet) bool {
	for _, rs := range c.setsOf(controllerOf(gone)) {
		if revision(rs.Annotations) > revision(gone.Annotations) {
			return false
		}
	}
	return true
}

func revision(annotations map[string]string) int {
	n, _ := strconv.Atoi(annotations[rollout.RevisionAnnotation])
	return n
}

// setsOf returns the ReplicaSets that a Deployment controls.
func (c *checker) setsOf(deployment types.UID) []*appsv1.ReplicaSet {
	var sets []*appsv1.ReplicaSet
	for _, rs := range c.world.server.replicaSets.rows {
		if controllerOf(rs) == deployment {
			sets = append(sets, rs)
		}
	}
	return sets
}
