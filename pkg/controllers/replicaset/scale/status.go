package scale

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"controller-manager/pkg/controllers/pods"
)

// The reasons of the condition ReplicaFailure.
const (
	ReasonFailedCreate = "FailedCreate"
	ReasonFailedDelete = "FailedDelete"
)

// Status says what to report about the ReplicaSet after the plan was carried out with the
// given outcome, and after what time to look again because a Pod will have become
// available or have stayed by then, or what the plan waits for is over; 0 if nothing will change by
// waiting alone. It counts what was there before
// the plan: what came of it is counted when the caches show it.
func Status(s Snapshot, plan Plan, outcome Outcome) (appsv1.ReplicaSetStatus, time.Duration) {
	status := s.ReplicaSet.Status
	status.ObservedGeneration = s.ReplicaSet.Generation
	status.Replicas = int32(len(s.Active))
	terminating := int32(len(s.Terminating))
	status.TerminatingReplicas = &terminating
	status.FullyLabeledReplicas, status.ReadyReplicas, status.AvailableReplicas = 0, 0, 0

	template := labels.SelectorFromValidatedSet(s.ReplicaSet.Spec.Template.Labels)
	for _, pod := range s.Active {
		if template.Matches(labels.Set(pod.Labels)) {
			status.FullyLabeledReplicas++
		}
		if pods.IsReady(pod) {
			status.ReadyReplicas++
		}
		if pods.IsAvailable(pod, s.ReplicaSet.Spec.MinReadySeconds, s.Now) {
			status.AvailableReplicas++
		}
	}
	status.Conditions = conditions(s, plan, outcome)
	return status, sooner(sooner(untilNextAvailable(s), s.Failures.SettleIn(s.Now)), plan.Wait)
}

// untilNextAvailable returns how long it is until the first of the Pods that are ready but
// not yet available becomes so; 0 if there is none. Each Pod goes by its own Ready
// transition, so a node whose clock is ahead or behind shifts its own Pods only.
func untilNextAvailable(s Snapshot) time.Duration {
	var soonest time.Duration
	for _, pod := range s.Active {
		if pods.IsAvailable(pod, s.ReplicaSet.Spec.MinReadySeconds, s.Now) {
			continue
		}
		at, known := pods.AvailableAt(pod, s.ReplicaSet.Spec.MinReadySeconds)
		if wait := at.Sub(s.Now); known && (soonest == 0 || wait < soonest) {
			soonest = wait
		}
	}
	return soonest
}

// sooner returns the shorter of two waits, of which 0 stands for none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// conditions returns the ReplicaSet's conditions with ReplicaFailure brought up to date: it
// follows the latest cause, and is removed when a create or delete has worked or none is
// needed any more. A sync that was not allowed to act leaves it as it is.
func conditions(s Snapshot, plan Plan, outcome Outcome) []appsv1.ReplicaSetCondition {
	old := s.ReplicaSet.Status.Conditions
	if outcome.Err == nil {
		if !s.Settled || outcome.Done == 0 && !plan.Empty() {
			return old
		}
		return slices.DeleteFunc(slices.Clone(old), isReplicaFailure)
	}
	failure := appsv1.ReplicaSetCondition{
		Type:               appsv1.ReplicaSetReplicaFailure,
		Status:             corev1.ConditionTrue,
		Reason:             ReasonFailedDelete,
		Message:            "unable to delete pods: " + outcome.Err.Error(), // as the built-in controller words it
		LastTransitionTime: metav1.NewTime(s.Now),
	}
	if plan.Create > 0 {
		failure.Reason, failure.Message = ReasonFailedCreate, outcome.Err.Error()
	}
	at := slices.IndexFunc(old, isReplicaFailure)
	if at < 0 {
		return append(slices.Clone(old), failure)
	}
	if old[at].Status == failure.Status {
		failure.LastTransitionTime = old[at].LastTransitionTime
	}
	updated := slices.Clone(old)
	updated[at] = failure
	return updated
}

func isReplicaFailure(condition appsv1.ReplicaSetCondition) bool {
	return condition.Type == appsv1.ReplicaSetReplicaFailure
}
