package rollout

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
)

func TestScalingSpreadsTheDifference(t *testing.T) {
	rs := replicaSet
	sets := func(sets ...*appsv1.ReplicaSet) []*appsv1.ReplicaSet { return sets }
	status := func(replicas int32) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Status.Replicas = replicas }
	}
	tests := map[string]struct {
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		want []string
	}{
		"the only active ReplicaSet takes the whole size": {
			deployment(5), sets(rs("v1", 0, 0, sizedFor(3, 4)), rs("v2", 3, 3, sizedFor(3, 4))), []string{"web-v2 3→5"}},
		"also when it is an old one, before the rollout goes on": {
			deployment(5), sets(rs("v1", 3, 3, sizedFor(3, 4))), []string{"web-v1 3→5"}},
		"shrinking in the middle of a rollout keeps the proportions": {
			deployment(2, bounds(1, 1)), sets(rs("v1", 9, 9, sizedFor(10, 11)), rs("v2", 2, 0, sizedFor(10, 11))),
			[]string{"web-v2 2→1", "web-v1 9→2"}},
		"growing in the middle of a rollout keeps the proportions": {
			deployment(15, bounds(3, 2)), sets(rs("v1", 8, 8, sizedFor(10, 13)), rs("v2", 5, 0, sizedFor(10, 13))),
			[]string{"web-v2 5→7", "web-v1 8→11"}},
		"what rounding leaves goes to the largest": {
			deployment(11, bounds(2, 2)), sets(rs("v1", 4, 4, sizedFor(10, 12)), rs("v3", 4, 4, sizedFor(10, 12)), rs("v2", 4, 4, sizedFor(10, 12))),
			[]string{"web-v3 4→5"}},
		"never more is taken than there is to take": {
			deployment(4, bounds(0, 1)), sets(rs("v1", 5, 5, sizedFor(10, 20)), rs("v2", 5, 5, sizedFor(10, 20))),
			[]string{"web-v2 5→3", "web-v1 5→1"}},
		"a half is rounded up": {
			deployment(15, bounds(0, 1)), sets(rs("v1", 4, 4, sizedFor(10, 10)), rs("v3", 3, 3, sizedFor(10, 10)), rs("v2", 3, 3, sizedFor(10, 10))),
			[]string{"web-v2 3→4", "web-v1 4→6", "web-v3 3→5"}},
		"of equals the newer one grows": {
			deployment(7, bounds(0, 1)), sets(rs("v1", 3, 3, sizedFor(6, 6)), rs("v2", 3, 3, sizedFor(6, 6))),
			[]string{"web-v2 3→4"}},
		"of equals the older one shrinks": {
			deployment(5, bounds(0, 1)), sets(rs("v1", 3, 3, sizedFor(6, 6)), rs("v2", 3, 3, sizedFor(6, 6))),
			[]string{"web-v1 3→2"}},
		"to nothing, without surge": {
			deployment(0, bounds(3, 1)), sets(rs("v1", 8, 8, sizedFor(10, 13)), rs("v2", 5, 5, sizedFor(10, 13))),
			[]string{"web-v2 5→0", "web-v1 8→0"}},
		"a missing maximum is read from the status": {
			deployment(20, bounds(0, 1), status(10)), sets(rs("v1", 5, 5, rsAnnotated(DesiredReplicasAnnotation, "10")), rs("v2", 5, 5, sizedFor(10, 10))),
			[]string{"web-v2 5→10", "web-v1 5→10"}},
		"garbage for a maximum too": {
			deployment(20, bounds(0, 1), status(10)), sets(rs("v1", 5, 5, sizedFor(10, "many")), rs("v2", 5, 5, sizedFor(10, 10))),
			[]string{"web-v2 5→10", "web-v1 5→10"}},
		"and 0 for a maximum": {
			deployment(20, bounds(0, 1), status(10)), sets(rs("v1", 5, 5, sizedFor(10, 0)), rs("v2", 5, 5, sizedFor(10, 10))),
			[]string{"web-v2 5→10", "web-v1 5→10"}},
		"without any maximum there is no share, and all of it is left": {
			deployment(20, bounds(0, 1)), sets(rs("v1", 5, 5, rsAnnotated(DesiredReplicasAnnotation, "10")), rs("v2", 6, 6, rsAnnotated(DesiredReplicasAnnotation, "10"))),
			[]string{"web-v2 6→15"}},
		"once all is given away nobody shrinks for it": {
			deployment(10, bounds(5, 0)), sets(rs("v1", 5, 5, sizedFor(10, 15)), rs("v2", 2, 2, sizedFor(46, 51)), rs("v3", 5, 5, sizedFor(5, 10))),
			[]string{"web-v3 5→8"}},
		"one that somebody else made too large does not grow while others shrink": {
			deployment(6, bounds(0, 1)), sets(rs("v1", 4, 0, sizedFor(1, 1)), rs("v2", 6, 0, sizedFor(6, 6))),
			[]string{"web-v2 6→2"}},

		"one that had its share of a larger Deployment does not shrink while others grow": {
			deployment(4), sets(rs("v1", 2, 2, sizedFor(5, 7)), rs("v2", 2, 0, sizedFor(5, 7))),
			[]string{"web-v2 2→3"}},
		"a saturated new ReplicaSet needs no old ones": {
			deployment(4), sets(rs("v1", 2, 2, sizedFor(3, 3)), rs("v2", 4, 4, sizedFor(4, 5))), []string{"web-v1 2→0"}},
		"the largest size does not overflow": {
			deployment(math.MaxInt32, bounds("100%", 0)), sets(rs("v1", math.MaxInt32/2, 0, sizedFor(math.MaxInt32-1, math.MaxInt32)), rs("v2", math.MaxInt32/2, 0, sizedFor(math.MaxInt32-1, math.MaxInt32))),
			[]string{"web-v2 1073741823→2147483647", "web-v1 1073741823→2147483646"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, sizes(decide(t, snapshot(test.d, test.sets...)))); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScalingMarksWhatHasTheRightSizeAlready(t *testing.T) {
	// In a rollout without surge, 5 replicas become 4 just when the old ReplicaSet is at
	// 4 and the new one at 0. Nothing needs another size; but if the old one went on
	// saying that it was sized for 5, the Deployment would look unscaled for ever.
	d := deployment(4, bounds(0, 1))
	old, fresh := replicaSet("v1", 4, 4, sizedFor(5, 5)), replicaSet("v2", 0, 0, sizedFor(5, 5))
	plan := decide(t, snapshot(d, old, fresh))
	if len(plan.Change) != 1 || plan.Change[0].Desired.Annotations[DesiredReplicasAnnotation] != "4" {
		t.Fatalf("plan %+v, want the old ReplicaSet marked as sized for 4", plan)
	}
	after := decide(t, snapshot(d, plan.Change[0].Desired, fresh))
	if diff := cmp.Diff([]string{"web-v1 4→3"}, sizes(after)); diff != "" {
		t.Errorf("the rollout must go on (-want +got):\n%s", diff)
	}
}

func TestWhatIsNoScaling(t *testing.T) {
	tests := map[string][]*appsv1.ReplicaSet{
		"no annotation":         {replicaSet("v2", 4, 4)},
		"garbage for a size":    {replicaSet("v2", 4, 4, sizedFor("lots", 5))},
		"negative":              {replicaSet("v2", 4, 4, sizedFor("-4", 5))},
		"out of range":          {replicaSet("v2", 4, 4, sizedFor("2147483648", 5))},
		"an inactive one":       {replicaSet("v1", 0, 0, sizedFor(9, 9)), replicaSet("v2", 4, 4, sizedFor(4, 5))},
		"one being deleted":     {replicaSet("v1", 1, 1, sizedFor(9, 9), rsDeleted), replicaSet("v2", 4, 4, sizedFor(4, 5))},
		"the same, all of them": {replicaSet("v2", 4, 4, sizedFor(4, 5))},
	}
	for name, sets := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := look(snapshot(deployment(4), sets...))
			if err != nil || v.sizeChanged() {
				t.Errorf("counts as scaled, %v", err)
			}
		})
	}
}

func TestWhatIsScaledUpIsNotTrimmedInTheSameStep(t *testing.T) {
	none := int32(0)
	d := deployment(3, paused, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &none })
	plan := decide(t, snapshot(d, replicaSet("v1", 0, 0, sizedFor(3, 4))))
	if diff := cmp.Diff([]string{"web-v1 0→3"}, sizes(plan)); diff != "" || len(plan.Delete) > 0 {
		t.Errorf("deletes %v, steps (-want +got):\n%s", plan.Delete, diff)
	}
}

func TestScalingWhilePaused(t *testing.T) {
	rs := replicaSet
	tests := map[string]struct {
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		want []string
	}{
		"a paused Deployment without ReplicaSets makes none": {deployment(3, paused), nil, nil},
		"the current template is scaled, no new one made": {
			deployment(5, paused), []*appsv1.ReplicaSet{rs("v1", 3, 3, sizedFor(3, 4))}, []string{"web-v1 3→5"}},
		"an edit of the ReplicaSet itself is put back": {
			deployment(5, paused), []*appsv1.ReplicaSet{rs("v1", 9, 9, sizedFor(5, 7))}, []string{"web-v1 9→5"}},
		"with none active the new one is scaled": {
			deployment(2, paused), []*appsv1.ReplicaSet{rs("v3", 0, 0), rs("v2", 0, 0)}, []string{"web-v2 0→2"}},
		"with none active and no new one the youngest is scaled": {
			deployment(2, paused), []*appsv1.ReplicaSet{rs("v1", 0, 0), rs("v3", 0, 0)}, []string{"web-v3 0→2"}},
		"one that is being deleted is not scaled": {
			deployment(2, paused), []*appsv1.ReplicaSet{rs("v1", 0, 0), rs("v3", 1, 1, rsDeleted)}, []string{"web-v1 0→2"}},
		"Recreate in the middle of a rollout spreads nothing": {
			deployment(5, recreate, paused), []*appsv1.ReplicaSet{rs("v1", 3, 3, sizedFor(4, 4)), rs("v2", 1, 0, sizedFor(4, 4))}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, sizes(decide(t, snapshot(test.d, test.sets...)))); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}
