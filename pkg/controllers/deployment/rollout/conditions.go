package rollout

import (
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of a Deployment's conditions. kubectl, dashboards and GitOps tools
// match on them.
const (
	ReasonAvailable              = "MinimumReplicasAvailable"
	ReasonUnavailable            = "MinimumReplicasUnavailable"
	ReasonCreated                = "NewReplicaSetCreated"
	ReasonFound                  = "FoundNewReplicaSet"
	ReasonUpdated                = "ReplicaSetUpdated"
	ReasonComplete               = "NewReplicaSetAvailable"
	ReasonDeadlineExceeded       = "ProgressDeadlineExceeded"
	ReasonCreateError            = "ReplicaSetCreateError"
	ReasonPaused                 = "DeploymentPaused"
	ReasonResumed                = "DeploymentResumed"
	messageAvailable             = "Deployment has minimum availability."
	messageUnavailable           = "Deployment does not have minimum availability."
	messagePaused                = "Deployment is paused"
	messageResumed               = "Deployment is resumed"
	unlimited              int32 = math.MaxInt32 // "no deadline"
)

// deadline returns the Deployment's progress deadline, and false if it has none.
func deadline(d *appsv1.Deployment) (time.Duration, bool) {
	seconds := d.Spec.ProgressDeadlineSeconds
	if seconds == nil || *seconds == unlimited {
		return 0, false
	}
	return time.Duration(*seconds) * time.Second, true
}

// find returns the condition of a type, or nil.
func find(conditions []appsv1.DeploymentCondition, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// conditionList is the conditions of a status in the making.
type conditionList struct {
	items []appsv1.DeploymentCondition
	now   metav1.Time
}

// set puts a condition in place. One that says the same already stays untouched, with its
// times; lastTransitionTime moves only when the status changes. A changed condition
// moves to the end, where the built-in controller puts it too.
func (l *conditionList) set(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	current := find(l.items, kind)
	if current != nil && current.Status == status && current.Reason == reason && current.Message == message {
		return
	}
	l.renew(kind, status, reason, message)
}

// renew is set for a condition whose lastUpdateTime tells something by itself.
func (l *conditionList) renew(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	condition := appsv1.DeploymentCondition{
		Type: kind, Status: status, Reason: reason, Message: message,
		LastUpdateTime: l.now, LastTransitionTime: l.now,
	}
	if current := find(l.items, kind); current != nil && current.Status == status {
		condition.LastTransitionTime = current.LastTransitionTime
	}
	l.remove(kind)
	l.items = append(l.items, condition)
}

func (l *conditionList) remove(kind appsv1.DeploymentConditionType) {
	l.items = slices.DeleteFunc(l.items, func(c appsv1.DeploymentCondition) bool { return c.Type == kind })
}

// resuming reports whether the Deployment was paused and has just been resumed. That is
// reported in a write of its own, so that the clock of the deadline starts anew and
// whoever watches sees it.
func (v view) resuming() bool {
	condition := find(v.Deployment.Status.Conditions, appsv1.DeploymentProgressing)
	return !v.Deployment.Spec.Paused && condition != nil && condition.Reason == ReasonPaused
}

// availability sets the Available condition.
func (r *report) availability() {
	if int64(r.status.AvailableReplicas) >= r.minAvailable() {
		r.conditions.set(appsv1.DeploymentAvailable, corev1.ConditionTrue, ReasonAvailable, messageAvailable)
	} else {
		r.conditions.set(appsv1.DeploymentAvailable, corev1.ConditionFalse, ReasonUnavailable, messageUnavailable)
	}
}

// progress sets the Progressing condition, which exists only for a Deployment with a
// progress deadline.
func (r *report) progress() {
	if _, limited := deadline(r.Deployment); !limited {
		r.conditions.remove(appsv1.DeploymentProgressing)
		return
	}
	current := find(r.Deployment.Status.Conditions, appsv1.DeploymentProgressing)
	switch {
	case r.Deployment.DeletionTimestamp != nil:
	case r.Deployment.Spec.Paused && !hasTimedOut(current):
		r.setProgress(corev1.ConditionUnknown, ReasonPaused, messagePaused)
	case r.resuming():
		r.setProgress(corev1.ConditionUnknown, ReasonResumed, messageResumed)
	case r.outcome.Held:
		// Why the last try was refused is reported already.
	case r.outcome.CreateErr != nil:
		r.setProgress(corev1.ConditionFalse, ReasonCreateError, CreateErrorMessage(r.plan.Create.ReplicaSet.Name, r.outcome.CreateErr))
	case r.outcome.Created:
		r.setProgress(corev1.ConditionTrue, ReasonCreated, fmt.Sprintf("Created new replica set %q", r.outcome.New.Name))
	case r.Deployment.Spec.Paused || r.plan.Scaling:
		// The rollout stands still, so there is no progress to judge.
	default:
		r.rollout(current)
	}
}

// rollout judges the progress of a rollout that is under way.
func (r *report) rollout(current *appsv1.DeploymentCondition) {
	if current == nil && r.new != nil {
		r.setProgress(corev1.ConditionTrue, ReasonFound, fmt.Sprintf("Found new replica set %q", r.new.Name))
	}
	succeeded := current != nil && current.Reason == ReasonComplete
	switch {
	case succeeded && r.new != nil && r.status.Replicas == r.status.UpdatedReplicas:
		// Between rollouts nothing is judged: Pods may come and go, for example when
		// nodes are drained, without making a finished rollout unfinished.
	case r.complete():
		r.setProgress(corev1.ConditionTrue, ReasonComplete, r.subject()+" has successfully progressed.")
	case r.progressed() || succeeded: // what succeeded is the rollout before: another one has begun
		r.conditions.renew(appsv1.DeploymentProgressing, corev1.ConditionTrue, ReasonUpdated, r.subject()+" is progressing.")
	case r.timedOut() || hasTimedOut(current):
		r.setProgress(corev1.ConditionFalse, ReasonDeadlineExceeded, r.timedOutMessage(current))
	}
}

func (r *report) setProgress(status corev1.ConditionStatus, reason, message string) {
	r.conditions.set(appsv1.DeploymentProgressing, status, reason, message)
}

// subject is what the messages of the Progressing condition are about.
func (r *report) subject() string {
	if r.new == nil {
		return fmt.Sprintf("Deployment %q", r.Deployment.Name)
	}
	return fmt.Sprintf("ReplicaSet %q", r.new.Name)
}

// progressed reports whether the rollout got further since the last status: more Pods
// of the new template, fewer of others, or more that are ready or available.
func (r *report) progressed() bool {
	before, now := &r.Deployment.Status, &r.status
	return now.UpdatedReplicas > before.UpdatedReplicas ||
		now.Replicas-now.UpdatedReplicas < before.Replicas-before.UpdatedReplicas ||
		now.ReadyReplicas > before.ReadyReplicas ||
		now.AvailableReplicas > before.AvailableReplicas
}

// timedOut reports whether the last progress is further back than the deadline.
func (r *report) timedOut() bool {
	left, judged := r.timeLeft()
	return judged && left < 0
}

// timeLeft returns how long the rollout may go on without progress, and false if nothing
// limits it: no deadline, none missed yet because no rollout is under way, or missed
// already.
func (r *report) timeLeft() (time.Duration, bool) {
	limit, limited := deadline(r.Deployment)
	condition := find(r.conditions.items, appsv1.DeploymentProgressing)
	if !limited || condition == nil {
		return 0, false
	}
	switch condition.Reason {
	case ReasonComplete, ReasonDeadlineExceeded, ReasonPaused:
		return 0, false
	}
	return condition.LastUpdateTime.Add(limit).Sub(r.Now), true
}

// failure copies the ReplicaFailure condition of the new ReplicaSet or, if it has none, of
// an old one. Its times are the ReplicaSet's: that is when the failure began.
func (r *report) failure() {
	for _, rs := range r.all() {
		for _, condition := range rs.Status.Conditions {
			if condition.Type == appsv1.ReplicaSetReplicaFailure {
				began := conditionList{items: r.conditions.items, now: condition.LastTransitionTime}
				began.set(appsv1.DeploymentReplicaFailure, condition.Status, condition.Reason, condition.Message)
				r.conditions.items = began.items
				return
			}
		}
	}
	r.conditions.remove(appsv1.DeploymentReplicaFailure)
}
