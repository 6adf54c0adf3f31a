package rollout

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
)

func TestFencepostsResolve(t *testing.T) {
	tests := map[string]struct {
		replicas           int32
		surge, unavailable any
		want               fenceposts
	}{
		"surge rounds up and unavailable rounds down":              {10, "25%", "25%", fenceposts{3, 2}},
		"one replica with the defaults surges and never goes away": {1, "25%", "25%", fenceposts{1, 0}},
		"three replicas with the defaults":                         {3, "25%", "25%", fenceposts{1, 0}},
		"both rounding to nothing lets one Pod go":                 {1, 0, "25%", fenceposts{0, 1}},
		"ten percent of three rounds to nothing too":               {3, 0, "10%", fenceposts{0, 1}},
		"both 0 % lets one Pod go":                                 {5, "0%", "0%", fenceposts{0, 1}},
		"absolute numbers stay":                                    {10, 4, 1, fenceposts{4, 1}},
		"unavailable is at most replicas":                          {3, 1, 5, fenceposts{1, 3}},
		"unavailable is 0 with no replicas":                        {0, 2, 2, fenceposts{2, 0}},
		"1 % surge of anything is one Pod":                         {1000, "1%", 0, fenceposts{10, 0}},
		"100 % of the largest size does not overflow":              {math.MaxInt32, "100%", "100%", fenceposts{math.MaxInt32, math.MaxInt32}},
		"absent values count as 0":                                 {4, nil, nil, fenceposts{0, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := resolveFenceposts(deployment(test.replicas, bounds(test.surge, test.unavailable)))
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	t.Run("Recreate has none", func(t *testing.T) {
		if got, err := resolveFenceposts(deployment(10, recreate)); err != nil || got != (fenceposts{}) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a missing rollingUpdate counts as 0 and 0", func(t *testing.T) {
		d := deployment(4, func(d *appsv1.Deployment) { d.Spec.Strategy.RollingUpdate = nil })
		if got, err := resolveFenceposts(d); err != nil || got != (fenceposts{0, 1}) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	for _, edit := range []func(*appsv1.Deployment){bounds("many", 0), bounds(0, "few")} {
		if _, err := Decide(snapshot(deployment(1, edit))); err == nil {
			t.Error("a fencepost that is no number must be an error")
		}
	}
}

func TestRollingUpdateTakesOneStep(t *testing.T) {
	rs := replicaSet
	at10 := sizedFor(10, 13)
	tests := map[string]struct {
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		want []string
	}{
		"the first ReplicaSet is made at full size": {deployment(3), nil, []string{"create 3"}},
		"a new template makes as many as the surge allows and gives up what availability allows": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 10, 10, at10)}, []string{"create 3", "web-v1 10→8"}},
		"without surge the new one starts empty": {
			deployment(4, bounds(0, 1)), []*appsv1.ReplicaSet{rs("v1", 4, 4, sizedFor(4, 4))}, []string{"create 0", "web-v1 4→3"}},
		"without unavailability nothing is given up": {
			deployment(4, bounds(1, 0)), []*appsv1.ReplicaSet{rs("v1", 4, 4, sizedFor(4, 5))}, []string{"create 1"}},
		"the new one grows first, and nothing else happens in that step": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 8, 8, at10), rs("v2", 3, 3, at10)}, []string{"web-v2 3→5"}},
		"the new one never grows past the wanted number": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 1, 1, at10), rs("v2", 9, 9, at10)}, []string{"web-v2 9→10"}},
		"the new one is brought down to the wanted number": {
			deployment(10), []*appsv1.ReplicaSet{rs("v2", 11, 11, at10)}, []string{"web-v2 11→10"}},
		"what is asked for counts against the surge, not Pods that are still there": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 8, 8, at10, rsPods(10)), rs("v2", 3, 3, at10)}, []string{"web-v2 3→5"}},
		"available new Pods let old ones go": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 8, 8, at10), rs("v2", 5, 3, at10)}, []string{"web-v1 8→5"}},
		"nothing goes while no new Pod is available": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 8, 8, at10), rs("v2", 5, 0, at10)}, nil},
		"a node that takes an old Pod away does not make more go": {
			deployment(10, bounds(3, 2)), []*appsv1.ReplicaSet{rs("v1", 8, 7, at10), rs("v2", 5, 0, at10)}, nil},
		"after an undo the broken Pods go first": {
			deployment(10, bounds(3, 2)), []*appsv1.ReplicaSet{rs("v3", 5, 0, at10), rs("v2", 8, 7, at10)}, []string{"web-v3 5→1"}},
		"of two old ones the broken Pods of the older go first": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 4, 2, at10), rs("v3", 6, 3, at10), rs("v2", 3, 3, at10)}, []string{"web-v1 4→2", "web-v3 6→3"}},
		"what may go in one step may go once, not from each old one": {
			deployment(10, bounds(3, 2)), []*appsv1.ReplicaSet{rs("v1", 4, 0, at10), rs("v3", 4, 0, at10), rs("v2", 5, 5, at10)},
			[]string{"web-v1 4→0", "web-v3 4→3"}},
		"broken and spare Pods of one ReplicaSet go in one write": {
			deployment(4, bounds(1, 1)), []*appsv1.ReplicaSet{rs("v1", 4, 3, sizedFor(4, 5)), rs("v2", 1, 1, sizedFor(4, 5))}, []string{"web-v1 4→2"}},
		"a revision that never worked is replaced all the same": {
			deployment(4), []*appsv1.ReplicaSet{rs("v1", 4, 0, sizedFor(4, 5))}, []string{"create 1", "web-v1 4→3"}},
		"Pods that are already condemned are not counted as available": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 8, 10, at10, rsPods(10)), rs("v2", 5, 1, at10)}, []string{"web-v1 8→7"}},
		"nor are those of the new one": {
			deployment(6, bounds(2, 1)), []*appsv1.ReplicaSet{rs("v1", 5, 5, sizedFor(6, 8)), rs("v2", 3, 5, sizedFor(6, 8), rsPods(5))}, []string{"web-v1 5→2"}},
		"an old ReplicaSet that is being deleted is left alone and not relied on": {
			deployment(4, bounds(1, 1)), []*appsv1.ReplicaSet{rs("v1", 2, 2, sizedFor(4, 5), rsDeleted), rs("v3", 2, 2, sizedFor(4, 5)), rs("v2", 1, 1, sizedFor(4, 5))}, nil},
		"a new ReplicaSet that is being deleted is waited for": {
			deployment(4), []*appsv1.ReplicaSet{rs("v1", 4, 4, sizedFor(4, 5)), rs("v2", 1, 0, sizedFor(4, 5), rsDeleted)}, nil},
		"scaled to nothing, a new template makes an empty ReplicaSet": {
			deployment(0), []*appsv1.ReplicaSet{rs("v1", 0, 0, sizedFor(0, 0))}, []string{"create 0"}},
		"a finished rollout asks for nothing": {
			deployment(10), []*appsv1.ReplicaSet{rs("v1", 0, 0), rs("v2", 10, 10, at10)}, nil},
		"the largest size with full surge does not overflow": {
			deployment(math.MaxInt32, bounds("100%", 0)), []*appsv1.ReplicaSet{rs("v1", math.MaxInt32, 5, sizedFor(math.MaxInt32, math.MaxInt32))},
			[]string{"create 2147483647"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := decide(t, snapshot(test.d, test.sets...))
			if diff := cmp.Diff(test.want, sizes(plan)); diff != "" {
				t.Errorf("steps (-want +got):\n%s\nnote: %s", diff, plan.Note)
			}
			if plan.Empty() && plan.Note == "" {
				t.Error("a plan that does nothing must say what it waits for")
			}
			for _, change := range plan.Change {
				if change.Why == "" {
					t.Errorf("the change of %s has no reason", change.Observed.Name)
				}
			}
		})
	}
}

func TestASizeChangeNotesWhatItWasMadeFor(t *testing.T) {
	plan := decide(t, snapshot(deployment(10), replicaSet("v1", 8, 8, sizedFor(10, 99)), replicaSet("v2", 3, 3, sizedFor(10, 13))))
	got := plan.Change[0].Desired.Annotations
	if got[DesiredReplicasAnnotation] != "10" || got[MaxReplicasAnnotation] != "13" {
		t.Errorf("annotations %v, want 10 and 13", got)
	}
}

func TestWhyHasTheNumbersInIt(t *testing.T) {
	sized := sizedFor(10, 13)
	tests := map[string]struct {
		sets []*appsv1.ReplicaSet
		want string
	}{
		"growing": {[]*appsv1.ReplicaSet{replicaSet("v1", 8, 8, sized), replicaSet("v2", 3, 3, sized)},
			"10 Pods of the new template are wanted, 3 are asked for; 11 Pods are asked for in all, and maxSurge 3 allows 13"},
		"shrinking for availability": {[]*appsv1.ReplicaSet{replicaSet("v1", 8, 8, sized), replicaSet("v2", 5, 3, sized)},
			"11 Pods are available, and maxUnavailable 2 asks for no more than 8"},
		"replacing broken Pods": {[]*appsv1.ReplicaSet{replicaSet("v1", 8, 4, sized), replicaSet("v2", 5, 3, sized)},
			"3 of its Pods are not available and are replaced first"},
		"both": {[]*appsv1.ReplicaSet{replicaSet("v1", 8, 6, sized), replicaSet("v2", 5, 3, sized)},
			"2 of its Pods are not available, and of 9 available Pods maxUnavailable 2 asks for no more than 8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decide(t, snapshot(deployment(10), test.sets...)).Change[0].Why); diff != "" {
				t.Errorf("why (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheNoteSaysWhatIsWaitedFor(t *testing.T) {
	sized := sizedFor(10, 13)
	tests := map[string]struct {
		sets []*appsv1.ReplicaSet
		want string
	}{
		"new Pods, with old ones still there": {[]*appsv1.ReplicaSet{replicaSet("v1", 8, 8, sized), replicaSet("v2", 5, 0, sized)},
			"waiting for Pods to become available: 0 of 5 new ones are, 8 in all, at least 8 must be; 13 Pods are asked for in all, and maxSurge 3 allows 13"},
		"new Pods alone": {[]*appsv1.ReplicaSet{replicaSet("v2", 10, 7, sized)}, "waiting for 3 of 10 Pods to become available"},
		"old Pods to go": {[]*appsv1.ReplicaSet{replicaSet("v1", 0, 0, rsPods(2)), replicaSet("v2", 10, 10, sized)},
			"waiting for Pods that are not wanted any more to be gone"},
		"nothing": {[]*appsv1.ReplicaSet{replicaSet("v2", 10, 10, sized)}, "the rollout is complete"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decide(t, snapshot(deployment(10), test.sets...)).Note); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLargestMaximumIsANumberThatOthersRead(t *testing.T) {
	plan := decide(t, snapshot(deployment(math.MaxInt32, bounds("100%", 0))))
	if got := plan.Create.ReplicaSet.Annotations[MaxReplicasAnnotation]; got != "2147483647" {
		t.Errorf("%s is %s", MaxReplicasAnnotation, got)
	}
}
