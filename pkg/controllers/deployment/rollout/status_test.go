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
			deployment(10, reported(13, 5, 8, updating(minute))), half, Outcome{}, same(updating(0)), 601 * time.Second},
		"more are new": {
			deployment(10, reported(13, 4, 9, updating(minute))), half, Outcome{}, same(updating(0)), 601 * time.Second},
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
		"Pods fail after it was complete": {
			deployment(10, limited(5), reported(10, 10, 10, progressing(isTrue, ReasonComplete, "", hour, hour))), degraded, Outcome{},
			same(progressing(isTrue, ReasonComplete, "", hour, hour)), 0},
		"and come back": {
			deployment(10, limited(5), reported(10, 10, 4, progressing(isTrue, ReasonComplete, "", hour, hour))), done, Outcome{},
			same(progressing(isTrue, ReasonComplete, "", hour, hour)), 0},
		"the next rollout begins long after": {
			deployment(10, limited(5), reported(13, 5, 9, progressing(isTrue, ReasonComplete, "", hour, hour))), half, Outcome{},
			same(progressing(isTrue, ReasonComplete, "", hour, hour)), 0},
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

func TestReplicaFailureIsCopied(t *testing.T) {
	failing := func(message string) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) {
			rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: isTrue, Reason: "FailedCreate",
				Message: message, LastTransitionTime: metav1.NewTime(now.Add(-minute))}}
		}
	}
	failure := func(message string, moved, updated time.Duration) *appsv1.DeploymentCondition {
		c := condition(appsv1.DeploymentReplicaFailure, isTrue, "FailedCreate", message, moved, updated)
		return &c
	}
	before := *failure("quota", hour, hour)
	tests := map[string]struct {
		sets   []*appsv1.ReplicaSet
		before []appsv1.DeploymentCondition
		want   *appsv1.DeploymentCondition
	}{
		"from the new one rather than from an old one": {
			[]*appsv1.ReplicaSet{replicaSet("v1", 1, 1, failing("old")), replicaSet("v2", 1, 1, failing("new"))}, nil, failure("new", minute, minute)},
		"from an old one if the new one has none": {
			[]*appsv1.ReplicaSet{replicaSet("v1", 1, 1, failing("old")), replicaSet("v2", 1, 1)}, nil, failure("old", minute, minute)},
		"the latest cause is told": {
			[]*appsv1.ReplicaSet{replicaSet("v2", 1, 1, failing("limits"))}, []appsv1.DeploymentCondition{before}, failure("limits", hour, minute)},
		"the same cause is not told again": {
			[]*appsv1.ReplicaSet{replicaSet("v2", 1, 1, failing("quota"))}, []appsv1.DeploymentCondition{before}, failure("quota", hour, hour)},
		"it goes when none has it": {
			[]*appsv1.ReplicaSet{replicaSet("v2", 1, 1)}, []appsv1.DeploymentCondition{before}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(deployment(2, reported(2, 2, 2, test.before...)), test.sets...)
			status := Status(s, Plan{}, Outcome{}).Status
			if diff := cmp.Diff(test.want, find(status.Conditions, appsv1.DeploymentReplicaFailure)); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCountsOfTheStatus(t *testing.T) {
	two := int32(2)
	terminating := func(rs *appsv1.ReplicaSet) { rs.Status.TerminatingReplicas = &two }
	unseen := func(rs *appsv1.ReplicaSet) { rs.Status.ObservedGeneration = 0 }
	ready := func(n int32) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) { rs.Status.ReadyReplicas = n }
	}
	number := func(n int32) *int32 { return &n }
	tests := map[string]struct {
		sets    []*appsv1.ReplicaSet
		outcome Outcome
		want    appsv1.DeploymentStatus
	}{
		"they are sums, and updated is the new one's": {
			[]*appsv1.ReplicaSet{replicaSet("v1", 8, 7, ready(8), terminating), replicaSet("v2", 5, 3, ready(4), terminating)}, Outcome{},
			appsv1.DeploymentStatus{Replicas: 13, UpdatedReplicas: 5, ReadyReplicas: 12, AvailableReplicas: 10, UnavailableReplicas: 3, TerminatingReplicas: number(4)}},
		"unavailable is never negative": {
			[]*appsv1.ReplicaSet{replicaSet("v2", 1, 10, rsPods(10), terminating)}, Outcome{},
			appsv1.DeploymentStatus{Replicas: 10, UpdatedReplicas: 10, ReadyReplicas: 10, AvailableReplicas: 10, TerminatingReplicas: &two}},
		"unavailable counts against the sizes just written": {
			[]*appsv1.ReplicaSet{replicaSet("v1", 8, 8, terminating)}, Outcome{Written: []*appsv1.ReplicaSet{replicaSet("v1", 6, 8, rsPods(8), terminating)}, New: replicaSet("v2", 5, 0, rsPods(0), unseen), Created: true},
			appsv1.DeploymentStatus{Replicas: 8, ReadyReplicas: 8, AvailableReplicas: 8, UnavailableReplicas: 3, TerminatingReplicas: &two}},
		"a ReplicaSet nobody has looked at holds up no sum of terminating Pods": {
			[]*appsv1.ReplicaSet{replicaSet("v1", 2, 2, terminating), replicaSet("v2", 2, 0, unseen)}, Outcome{},
			appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2, UnavailableReplicas: 2, TerminatingReplicas: &two}},
		"one that does not report them makes the sum unknown": {
			[]*appsv1.ReplicaSet{replicaSet("v1", 2, 2, terminating), replicaSet("v2", 2, 2)}, Outcome{},
			appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 2, ReadyReplicas: 4, AvailableReplicas: 4}},
		"a collision is counted": {
			nil, Outcome{Collision: true},
			appsv1.DeploymentStatus{CollisionCount: number(1), TerminatingReplicas: number(0)}},
		"sums stay within what the API takes": {
			[]*appsv1.ReplicaSet{replicaSet("v1", math.MaxInt32, math.MaxInt32), replicaSet("v2", math.MaxInt32, 0)}, Outcome{},
			appsv1.DeploymentStatus{Replicas: math.MaxInt32, UpdatedReplicas: math.MaxInt32, ReadyReplicas: math.MaxInt32, AvailableReplicas: math.MaxInt32, UnavailableReplicas: math.MaxInt32}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := Status(snapshot(deployment(10), test.sets...), Plan{}, test.outcome).Status
			test.want.ObservedGeneration = 7
			if diff := cmp.Diff(test.want, status, cmpopts.IgnoreFields(appsv1.DeploymentStatus{}, "Conditions")); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("collisions add up", func(t *testing.T) {
		d := deployment(1, func(d *appsv1.Deployment) { d.Status.CollisionCount = &two })
		status := Status(snapshot(d), Plan{}, Outcome{Collision: true}).Status
		if *status.CollisionCount != 3 || two != 2 {
			t.Errorf("collisionCount %d, and the Deployment's is %d", *status.CollisionCount, two)
		}
	})
}

func TestTheDeploymentCarriesItsRevision(t *testing.T) {
	s := snapshot(deployment(1), replicaSet("v1", 1, 1), replicaSet("v2", 1, 1))
	raised := replicaSet("v2", 1, 1, rsAnnotated(RevisionAnnotation, "8"))
	for name, test := range map[string]struct {
		s       Snapshot
		outcome Outcome
		want    string
	}{
		"as the new ReplicaSet says":          {s, Outcome{}, "2"},
		"or as was just written to it":        {s, Outcome{Written: []*appsv1.ReplicaSet{raised}}, "8"},
		"or as it was just made with":         {snapshot(deployment(1)), Outcome{New: raised}, "8"},
		"and none without a new ReplicaSet":   {snapshot(deployment(1)), Outcome{}, ""},
		"nor with fenceposts that are broken": {snapshot(deployment(1, bounds("x", 1))), Outcome{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Status(test.s, Plan{}, test.outcome).Revision; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAStatusThatSaysTheSameIsTheSame(t *testing.T) {
	s := snapshot(deployment(10), replicaSet("v1", 8, 8, sizedFor(10, 13)), replicaSet("v2", 5, 1, sizedFor(10, 13)))
	first := Status(s, Plan{}, Outcome{}).Status
	s.Deployment = s.Deployment.DeepCopy()
	s.Deployment.Status = first
	s.Now = now.Add(minute)
	second := Status(s, Plan{}, Outcome{}).Status
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("a minute later (-want +got):\n%s", diff)
	}
	broken := snapshot(deployment(10, bounds("x", 1), reported(1, 1, 1)))
	if kept := Status(broken, Plan{}, Outcome{}); kept.Status.Replicas != 1 {
		t.Error("the status of a Deployment that cannot be decided on must stay")
	}
}
