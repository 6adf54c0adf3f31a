package simulation

import (
	"math"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// observedGenerationRises: a status is never of an older spec than the one before it, nor of
// one that does not exist.
func (c *checker) observedGenerationRises(before, after int64, o metav1.Object) {
	if after < before || after > o.GetGeneration() {
		c.fail("observed generation rises", "that of %s went from %d to %d, and its generation is %d", o.GetName(), before, after, o.GetGeneration())
	}
}

// countsAddUp: no count in a Deployment's status is negative, or more than the count that
// includes it.
func (c *checker) countsAddUp(d *appsv1.Deployment) {
	s := &d.Status
	if s.UpdatedReplicas < 0 || s.AvailableReplicas < 0 || s.UnavailableReplicas < 0 ||
		s.UpdatedReplicas > s.Replicas || s.ReadyReplicas > s.Replicas || s.AvailableReplicas > s.ReadyReplicas {
		c.fail("counts add up", "Deployment %s reports %d replicas, %d updated, %d ready, %d available, %d unavailable",
			d.Name, s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.UnavailableReplicas)
	}
}

// conditionsMoveAsTheyMay: a status of a Deployment has each condition once, and each says
// what the contract lets it say; lastTransitionTime moves with the status and only then.
func (c *checker) conditionsMoveAsTheyMay(s *syncing, ch change[*appsv1.Deployment]) {
	for i := range ch.new.Status.Conditions {
		condition := &ch.new.Status.Conditions[i]
		before, now := find(ch.old, condition.Type), find(ch.new, condition.Type)
		if now != condition {
			c.fail("conditions", "Deployment %s has two of type %s", ch.new.Name, condition.Type)
		}
		if before != nil && before.Status == now.Status && !before.LastTransitionTime.Equal(&now.LastTransitionTime) {
			c.fail("conditions", "lastTransitionTime of %s moved, and its status stayed %s", now.Type, now.Status)
		}
	}
	c.availableSaysWhatIs(s, ch.new)
	c.progressingSaysWhatIs(s, ch)
}

func find(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == kind {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}

// availableSaysWhatIs: Available is True exactly if at least replicas - maxUnavailable are
// reported available; with Recreate, if all are.
func (c *checker) availableSaysWhatIs(s *syncing, d *appsv1.Deployment) {
	condition := find(d, appsv1.DeploymentAvailable)
	if condition == nil || d.Status.ObservedGeneration != s.deployment.Generation {
		return
	}
	_, least := bounds(s.deployment)
	if s.deployment.Spec.Strategy.RollingUpdate == nil {
		least = int(*s.deployment.Spec.Replicas)
	}
	if enough := int(d.Status.AvailableReplicas) >= least; enough != (condition.Status == corev1.ConditionTrue) {
		c.fail("conditions", "Available is %s with %d available, and at least %d must be", condition.Status, d.Status.AvailableReplicas, least)
	}
}

// progressingSaysWhatIs: a Progressing condition that has changed says what is the case.
func (c *checker) progressingSaysWhatIs(s *syncing, ch change[*appsv1.Deployment]) {
	before, now := find(ch.old, appsv1.DeploymentProgressing), find(ch.new, appsv1.DeploymentProgressing)
	limit := s.deployment.Spec.ProgressDeadlineSeconds
	limited := limit != nil && *limit < math.MaxInt32
	switch {
	case now == nil:
		return
	case !limited:
		c.fail("conditions", "Progressing is there, and the Deployment has no deadline")
		return
	}
	c.successIsOfThisRollout(s, now, ch.new.Status)
	if before != nil && *before == *now {
		return
	}
	c.reasonSaysWhatIs(s, before, now, ch.new.Status)
}

// successIsOfThisRollout: once the loop has made an old ReplicaSet smaller, Progressing does not
// speak of the success of the rollout before.
//
// Tolerated: while a new size is shared out nothing is judged.
func (c *checker) successIsOfThisRollout(s *syncing, now *appsv1.DeploymentCondition, status appsv1.DeploymentStatus) {
	if now.Reason == rollout.ReasonComplete && s.shrank && !isScaling(s) && status.Replicas != status.UpdatedReplicas {
		c.fail("success is of this rollout", "Progressing says %s, and %d of %d Pods are updated", now.Reason, status.UpdatedReplicas, status.Replicas)
	}
}

func (c *checker) reasonSaysWhatIs(s *syncing, before, now *appsv1.DeploymentCondition, status appsv1.DeploymentStatus) {
	d := s.deployment
	wanted := *d.Spec.Replicas
	switch now.Reason {
	case rollout.ReasonComplete:
		if status.UpdatedReplicas != wanted || status.Replicas != wanted || status.AvailableReplicas != wanted {
			c.fail("conditions", "the rollout is called complete with %d replicas, %d updated, %d available of %d",
				status.Replicas, status.UpdatedReplicas, status.AvailableReplicas, wanted)
		}
	case rollout.ReasonDeadlineExceeded:
		c.deadlineHasPassed(s, before, now)
	case rollout.ReasonPaused:
		if !d.Spec.Paused {
			c.fail("conditions", "the Deployment is called paused")
		}
	case rollout.ReasonResumed, rollout.ReasonCreated, rollout.ReasonFound, rollout.ReasonUpdated:
		if d.Spec.Paused {
			c.fail("conditions", "a paused Deployment says %s", now.Reason)
		}
	}
}

// deadlineHasPassed: when the deadline is called exceeded it is, and the message says so; after
// that only the message may change, when another cause is seen.
func (c *checker) deadlineHasPassed(s *syncing, before, now *appsv1.DeploymentCondition) {
	limit := time.Duration(*s.deployment.Spec.ProgressDeadlineSeconds) * time.Second
	known := before != nil && before.Reason == now.Reason
	switch {
	case !strings.Contains(now.Message, " has timed out progressing."), known && before.Message == now.Message:
		c.fail("conditions", "the deadline is called exceeded with the message %q", now.Message)
	case before == nil || !known && s.now.Sub(before.LastUpdateTime.Time) <= limit:
		c.fail("conditions", "the deadline of %s is called exceeded too early", limit)
	}
}
