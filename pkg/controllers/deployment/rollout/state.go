package rollout

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// State is where a Deployment stands, by its own status: each one is in exactly one state.
type State string

// The states of Deployments.
const (
	// Complete: its last rollout has succeeded, and enough Pods are available.
	Complete State = "complete"
	// Progressing: a rollout is under way, or has still to be begun.
	Progressing State = "progressing"
	// Degraded: its last rollout has succeeded, and fewer Pods are available than must be. It
	// is so for a moment, too, when it is made larger.
	Degraded State = "degraded"
	// Stuck: Progressing is False; the deadline has passed, or the ReplicaSet is refused.
	Stuck State = "stuck"
	// Paused: no rollout step is taken.
	Paused State = "paused"
	// Deleting: it is being deleted.
	Deleting State = "deleting"
)

// States returns all states.
func States() []State { return []State{Complete, Progressing, Degraded, Stuck, Paused, Deleting} }

// StateOf returns the state of a Deployment. One without a progress deadline does not report
// how its rollout went: it is complete while all of its Pods are new and available.
func StateOf(d *appsv1.Deployment) State {
	progress, available := find(d.Status.Conditions, appsv1.DeploymentProgressing), find(d.Status.Conditions, appsv1.DeploymentAvailable)
	switch {
	case d.DeletionTimestamp != nil:
		return Deleting
	case d.Spec.Paused:
		return Paused
	case d.Status.ObservedGeneration < d.Generation:
		return Progressing
	case progress == nil && allNewAndAvailable(d):
		return Complete
	case progress == nil:
		return Progressing
	case progress.Status == corev1.ConditionFalse:
		return Stuck
	case progress.Reason != ReasonComplete:
		return Progressing
	case available != nil && available.Status == corev1.ConditionFalse:
		return Degraded
	}
	return Complete
}

func allNewAndAvailable(d *appsv1.Deployment) bool {
	wanted, s := replicas(d.Spec.Replicas), d.Status
	return int64(s.Replicas) == wanted && int64(s.UpdatedReplicas) == wanted && int64(s.AvailableReplicas) == wanted
}

// degrades reports whether a Deployment whose rollout has succeeded loses its availability with
// this report. That Pods are gone or not ready is the cause, not that more are wanted.
func (r *report) degrades() bool {
	before, now := r.Deployment.Status, r.status
	was, is := find(before.Conditions, appsv1.DeploymentAvailable), find(now.Conditions, appsv1.DeploymentAvailable)
	progress := find(now.Conditions, appsv1.DeploymentProgressing)
	return progress != nil && progress.Reason == ReasonComplete &&
		was != nil && was.Status == corev1.ConditionTrue && is.Status == corev1.ConditionFalse &&
		now.AvailableReplicas < before.AvailableReplicas && r.Deployment.DeletionTimestamp == nil
}
