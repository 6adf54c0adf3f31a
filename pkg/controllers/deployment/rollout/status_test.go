package rollout

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// condition returns a condition that last moved and was last updated so long ago.
func condition(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string, moved, updated time.Duration) appsv1.DeploymentCondition {
	return appsv1.DeploymentCondition{
		Type: kind, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now.Add(-moved)), LastUpdateTime: metav1.NewTime(now.Add(-updated)),
	}
}

func progressing(status corev1.ConditionStatus, reason, message string, moved, updated time.Duration) appsv1.DeploymentCondition {
	return condition(appsv1.DeploymentProgressing, status, reason, message, moved, updated)
}

// reported gives a Deployment a status: of so many Pods, so many new, so many available.
func reported(replicas, updated, available int32, conditions ...appsv1.DeploymentCondition) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status = appsv1.DeploymentStatus{Replicas: replicas, UpdatedReplicas: updated, ReadyReplicas: available, AvailableReplicas: available, Conditions: conditions}
	}
}

func limited(seconds int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = &seconds }
}

const (
	isTrue  = corev1.ConditionTrue
	isFalse = corev1.ConditionFalse
	unknown = corev1.ConditionUnknown
	hour    = time.Hour
	minute  = time.Minute
)

func TestProgressingCondition(t *testing.T) {
	half := []*appsv1.ReplicaSet{replicaSet("v1", 8, 8, sizedFor(10, 13)), replicaSet("v2", 5, 1, sizedFor(10, 13))}
	done := []*appsv1.ReplicaSet{replicaSet("v1", 0, 0), replicaSet("v2", 10, 10, sizedFor(10, 13))}
	degraded := []*appsv1.ReplicaSet{replicaSet("v1", 0, 0), replicaSet("v2", 10, 4, sizedFor(10, 13))}
	refused := errors.New("quota says no")
	updating := func(ago time.Duration) appsv1.DeploymentCondition {
		return progressing(isTrue, ReasonUpdated, `ReplicaSet "web-v2" is progressing.`, hour, ago)
	}
	same := func(c appsv1.DeploymentCondition) *appsv1.DeploymentCondition { return &c }
	tests := map[string]struct {
		d         *appsv1.Deployment
		sets      []*appsv1.ReplicaSet
		outcome   Outcome
		want      *appsv1.DeploymentCondition
		lookAgain time.Duration
	}{
		"a ReplicaSet was made": {
			deployment(10, reported(10, 10, 10, progressing(isTrue, ReasonComplete, "", hour, hour))), done[:1],
			Outcome{New: replicaSet("v2", 10, 0, rsPods(0)), Created: true},
			same(progressing(isTrue, ReasonCreated, `Created new replica set "web-v2"`, hour, 0)), 601 * time.Second},
		"one was there already": {
			deployment(10, reported(13, 5, 9)), half, Outcome{},
			same(progressing(isTrue, ReasonFound, `Found new replica set "web-v2"`, 0, 0)), 601 * time.Second},
		"more Pods are available": {
			deployment(10, reported(13, 5, 8, updating(minute)), func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 9 }), half, Outcome{},
			same(updating(0)), 601 * time.Second},
		"more are ready": {
			deployment(10, reported(13, 5, 9, updating(minute)), func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 8 }), half, Outcome{},
			same(updating(0)), 601 * time.Second},
		"more are new": {
			deployment(10, reported(12, 4, 9, updating(minute))), half, Outcome{}, same(updating(0)), 601 * time.Second},
		"fewer are old": {
			deployment(10, reported(14, 5, 9, updating(minute))), half, Outcome{}, same(updating(0)), 601 * time.Second},
		"progress after the deadline": {
			deployment(10, reported(13, 5, 8, progressing(isFalse, ReasonDeadlineExceeded, "", hour, hour))), half, Outcome{},
			same(progressing(isTrue, ReasonUpdated, `ReplicaSet "web-v2" is progressing.`, 0, 0)), 601 * time.Second},
		"nothing has moved": {
			deployment(10, reported(13, 5, 9, updating(minute))), half, Outcome{}, same(updating(minute)), 541 * time.Second},
		"nothing has moved for exactly the deadline": {
			deployment(10, limited(60), reported(13, 5, 9, updating(minute))), half, Outcome{}, same(updating(minute)), time.Second},
		"nothing has moved for longer": {
			deployment(10, limited(59), reported(13, 5, 9, updating(minute))), half, Outcome{},
			same(progressing(isFalse, ReasonDeadlineExceeded, `ReplicaSet "web-v2" has timed out progressing.`, 0, 0)), 0},
		"and still has not": {
			deployment(10, limited(59), reported(13, 5, 9, progressing(isFalse, ReasonDeadlineExceeded, `ReplicaSet "web-v2" has timed out progressing.`, hour, hour))), half, Outcome{},
			same(progressing(isFalse, ReasonDeadlineExceeded, `ReplicaSet "web-v2" has timed out progressing.`, hour, hour)), 0},
		"the rollout is complete": {
			deployment(10, reported(10, 10, 9, updating(minute))), done, Outcome{},
			same(progressing(isTrue, ReasonComplete, `ReplicaSet "web-v2" has successfully progressed.`, hour, 0)), 0},
		"all are new, and not all available": {
			deployment(10, reported(10, 10, 4, updating(minute))), degraded, Outcome{}, same(updating(minute)), 541 * time.Second},
		"Pods fail after it was complete": {
			deployment(10, limited(5), reported(10, 10, 10, progressing(isTrue, ReasonComplete, "", hour, hour))), degraded, Outcome{},
			same(progressing(isTrue, ReasonComplete, "", hour, hour)), 0},
		"and come back": {
			deployment(10, limited(5), reported(10, 10, 4, progressing(isTrue, ReasonComplete, "", hour, hour))), done, Outcome{},
			same(progressing(isTrue, ReasonComplete, "", hour, hour)), 0},
		"the next rollout begins long after": {
			deployment(10, limited(5), reported(13, 5, 9, progressing(isTrue, ReasonComplete, "", hour, hour))), half, Outcome{},
			same(updating(0)), 6 * time.Second},
		"the next rollout begins, with the stop of the old Pods": {
			deployment(3, recreate, limited(5), reported(3, 3, 3, progressing(isTrue, ReasonComplete, "", hour, hour))), []*appsv1.ReplicaSet{replicaSet("v1", 3, 3)}, Outcome{},
			same(progressing(isTrue, ReasonUpdated, `Deployment "web" is progressing.`, hour, 0)), 6 * time.Second},
		"and the old Pods have gone, but for what is still to be made": {
			deployment(3, recreate, limited(5), reported(0, 0, 0, progressing(isTrue, ReasonComplete, "", hour, hour))), []*appsv1.ReplicaSet{replicaSet("v1", 0, 0)}, Outcome{},
			same(progressing(isTrue, ReasonUpdated, `Deployment "web" is progressing.`, hour, 0)), 6 * time.Second},
		"no ReplicaSet has the template yet, old Pods stop": {
			deployment(3, recreate, reported(3, 0, 3, updating(minute))), []*appsv1.ReplicaSet{replicaSet("v1", 0, 0)}, Outcome{},
			same(progressing(isTrue, ReasonUpdated, `Deployment "web" is progressing.`, hour, 0)), 601 * time.Second},
		"and do not": {
			deployment(3, recreate, limited(5), reported(1, 0, 0, updating(minute))), []*appsv1.ReplicaSet{replicaSet("v1", 0, 0, rsPods(1))}, Outcome{},
			same(progressing(isFalse, ReasonDeadlineExceeded, `Deployment "web" has timed out progressing.`, 0, 0)), 0},
		"the ReplicaSet cannot be made": {
			deployment(10, reported(10, 0, 10, updating(minute))), nil, Outcome{CreateErr: refused, Err: refused},
			same(progressing(isFalse, ReasonCreateError, `Failed to create new replica set "web-7c4b7768d9": quota says no`, 0, 0)), 601 * time.Second},
		"the ReplicaSet is not tried again so soon": {
			deployment(10, reported(10, 0, 10, progressing(isFalse, ReasonCreateError, "quota says no", hour, minute))), nil, Outcome{Held: true, Err: refused},
			same(progressing(isFalse, ReasonCreateError, "quota says no", hour, minute)), 541 * time.Second},
		"the ReplicaSet that was made came out with another template": {
			deployment(10, reported(10, 10, 10, updating(minute))), done[:1],
			Outcome{New: replicaSet("v3", 10, 0, rsPods(0)), Created: true},
			same(progressing(isTrue, ReasonCreated, `Created new replica set "web-v3"`, hour, 0)), 601 * time.Second},
		"paused": {
			deployment(10, paused, reported(13, 5, 8, updating(minute))), half, Outcome{},
			same(progressing(unknown, ReasonPaused, "Deployment is paused", 0, 0)), 0},
		"paused for long": {
			deployment(10, paused, limited(5), reported(13, 5, 8, progressing(unknown, ReasonPaused, "Deployment is paused", hour, hour))), half, Outcome{},
			same(progressing(unknown, ReasonPaused, "Deployment is paused", hour, hour)), 0},
		"paused after the deadline": {
			deployment(10, paused, reported(13, 5, 8, progressing(isFalse, ReasonDeadlineExceeded, "", hour, hour))), half, Outcome{},
			same(progressing(isFalse, ReasonDeadlineExceeded, "", hour, hour)), 0},
		"resumed": {
			deployment(10, reported(13, 5, 8, progressing(unknown, ReasonPaused, "Deployment is paused", hour, hour))), half, Outcome{},
			same(progressing(unknown, ReasonResumed, "Deployment is resumed", hour, 0)), 601 * time.Second},
		"no progress since the resume": {
			deployment(10, limited(59), reported(13, 5, 9, progressing(unknown, ReasonResumed, "Deployment is resumed", hour, minute))), half, Outcome{},
			same(progressing(isFalse, ReasonDeadlineExceeded, `ReplicaSet "web-v2" has timed out progressing.`, 0, 0)), 0},
		"scaled in the middle of a rollout, which is no progress": {
			deployment(20, reported(13, 5, 8, updating(minute))), half, Outcome{}, same(updating(minute)), 541 * time.Second},
		"being deleted": {
			deployment(10, deleted, limited(5), reported(13, 5, 8, updating(minute))), half, Outcome{}, same(updating(minute)), 0},
		"no deadline, no condition": {
			deployment(10, reported(13, 5, 8, updating(minute)), func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = nil }), half, Outcome{}, nil, 0},
		"the largest deadline is none": {
			deployment(10, limited(math.MaxInt32), reported(13, 5, 8, updating(minute))), half, Outcome{}, nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(test.d, test.sets...)
			report := Status(s, decide(t, s), test.outcome)
			if diff := cmp.Diff(test.want, find(report.Status.Conditions, appsv1.DeploymentProgressing), cmpopts.EquateApproxTime(0)); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
			if report.LookAgain != test.lookAgain {
				t.Errorf("looks again after %s, want %s", report.LookAgain, test.lookAgain)
			}
		})
	}
}

func TestAvailableCondition(t *testing.T) {
	available := condition(appsv1.DeploymentAvailable, isTrue, ReasonAvailable, "Deployment has minimum availability.", hour, hour)
	tests := map[string]struct {
		available int32
		before    []appsv1.DeploymentCondition
		want      appsv1.DeploymentCondition
	}{
		"enough for the first time": {8, nil, condition(appsv1.DeploymentAvailable, isTrue, ReasonAvailable, "Deployment has minimum availability.", 0, 0)},
		"still enough":              {9, []appsv1.DeploymentCondition{available}, available},
		"one too few":               {7, []appsv1.DeploymentCondition{available}, condition(appsv1.DeploymentAvailable, isFalse, ReasonUnavailable, "Deployment does not have minimum availability.", 0, 0)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(deployment(10, reported(10, 10, 10, test.before...)), replicaSet("v2", 10, test.available, sizedFor(10, 13)))
			status := Status(s, Plan{}, Outcome{}).Status
			if diff := cmp.Diff(&test.want, find(status.Conditions, appsv1.DeploymentAvailable)); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}
