package rollout

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	over := before
	over.Status = isFalse
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
		"one that was False becomes True, as of when it failed": {
			[]*appsv1.ReplicaSet{replicaSet("v2", 1, 1, failing("quota"))}, []appsv1.DeploymentCondition{over}, failure("quota", minute, minute)},
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
		"as the new ReplicaSet says":                               {s, Outcome{}, "2"},
		"or as was just written to it":                             {s, Outcome{Written: []*appsv1.ReplicaSet{raised}}, "8"},
		"or as it was just made with":                              {snapshot(deployment(1)), Outcome{New: raised}, "8"},
		"nothing while it is being deleted":                        {snapshot(deployment(1, deleted), replicaSet("v2", 1, 1)), Outcome{}, ""},
		"nor one that is about to be raised, and could not be yet": {snapshot(deployment(1), replicaSet("v2", 1, 1), replicaSet("v3", 1, 1)), Outcome{}, ""},
		"and none without a new ReplicaSet":                        {snapshot(deployment(1)), Outcome{}, ""},
		"nor with fenceposts that are broken":                      {snapshot(deployment(1, bounds("x", 1))), Outcome{}, ""},
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
