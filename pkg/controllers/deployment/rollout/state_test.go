package rollout

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func available(enough bool) appsv1.DeploymentCondition {
	if enough {
		return condition(appsv1.DeploymentAvailable, isTrue, ReasonAvailable, messageAvailable, hour, hour)
	}
	return condition(appsv1.DeploymentAvailable, isFalse, ReasonUnavailable, messageUnavailable, hour, hour)
}

// observed is a Deployment whose generation its status has observed.
func observed(edits ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := deployment(10, edits...)
	d.Status.ObservedGeneration = d.Generation
	return d
}

func TestStateOfADeployment(t *testing.T) {
	complete := progressing(isTrue, ReasonComplete, "", hour, hour)
	stuck := progressing(isFalse, ReasonDeadlineExceeded, "", hour, hour)
	tests := map[string]struct {
		d    *appsv1.Deployment
		want State
	}{
		"nobody has looked at it yet":              {deployment(10, reported(10, 10, 10, complete)), Progressing},
		"a rollout is under way":                   {observed(reported(13, 5, 9, progressing(isTrue, ReasonUpdated, "", hour, hour))), Progressing},
		"it was just resumed":                      {observed(reported(13, 5, 9, progressing(unknown, ReasonResumed, "", hour, hour))), Progressing},
		"the rollout has succeeded":                {observed(reported(10, 10, 10, complete, available(true))), Complete},
		"fewer are available, and still enough":    {observed(reported(10, 10, 8, complete, available(true))), Complete},
		"too few are available":                    {observed(reported(10, 10, 7, available(false), complete)), Degraded},
		"too few, in the first rollout":            {observed(reported(10, 10, 7, available(false), progressing(isTrue, ReasonCreated, "", hour, hour))), Progressing},
		"the deadline has passed":                  {observed(reported(13, 5, 9, stuck)), Stuck},
		"the ReplicaSet is refused":                {observed(reported(10, 0, 10, progressing(isFalse, ReasonCreateError, "", hour, hour))), Stuck},
		"paused":                                   {observed(paused, reported(13, 5, 9, stuck)), Paused},
		"being deleted":                            {observed(deleted, paused), Deleting},
		"no deadline, all are there":               {observed(reported(10, 10, 10)), Complete},
		"no deadline, one is not available":        {observed(reported(10, 10, 9)), Progressing},
		"no deadline, an old one is there as well": {observed(reported(11, 10, 10)), Progressing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := StateOf(test.d); got != test.want || !slices.Contains(States(), got) {
				t.Errorf("state = %s, want %s", got, test.want)
			}
		})
	}
}

func TestAFinishedDeploymentThatLosesItsAvailabilityIsDegraded(t *testing.T) {
	complete := progressing(isTrue, ReasonComplete, "", hour, hour)
	left := func(n int32) []*appsv1.ReplicaSet {
		return []*appsv1.ReplicaSet{replicaSet("v2", 10, n, sizedFor(10, 13))}
	}
	tests := map[string]struct {
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		want bool
	}{
		"too many are gone":                          {deployment(10, reported(10, 10, 10, complete, available(true))), left(7), true},
		"as many as may be":                          {deployment(10, reported(10, 10, 10, complete, available(true))), left(8), false},
		"one more, after that was told":              {deployment(10, reported(10, 10, 7, complete, available(false))), left(6), false},
		"in a rollout":                               {deployment(10, reported(10, 10, 10, progressing(isTrue, ReasonUpdated, "", hour, hour), available(true))), left(7), false},
		"more are wanted, and none has gone":         {deployment(20, reported(10, 10, 10, complete, available(true))), []*appsv1.ReplicaSet{replicaSet("v2", 20, 10, sizedFor(20, 25))}, false},
		"another rollout begins, and too few remain": {deployment(10, image("v3"), reported(10, 10, 10, complete, available(true))), left(7), false},
		"nobody waits for it, there is no deadline":  {deployment(10, limited(unlimited), reported(10, 10, 10, available(true))), left(7), false},
		"being deleted":                              {deployment(10, deleted, reported(10, 10, 10, complete, available(true))), left(7), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(test.d, test.sets...)
			if got := Status(s, decide(t, s), Outcome{}).Degraded; got != test.want {
				t.Errorf("degraded = %v, want %v", got, test.want)
			}
		})
	}
}
