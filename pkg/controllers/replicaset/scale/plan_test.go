package scale

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDecide(t *testing.T) {
	leaving := func(s *Snapshot) {
		s.ReplicaSet.DeletionTimestamp = &metav1.Time{Time: now}
	}
	noSize := func(s *Snapshot) { s.ReplicaSet.Spec.Replicas = nil }
	type decision struct {
		Create int
		Delete int
		Wait   time.Duration
		Why    string
	}
	tests := map[string]struct {
		snapshot Snapshot
		want     decision
	}{
		"missing pods are created": {
			newSnapshot(5, newPods(2)), decision{Create: 3, Why: "2 of 5 pods are there"}},
		"surplus pods are deleted": {
			newSnapshot(2, newPods(5)), decision{Delete: 3, Why: "5 pods are there, 2 are wanted"}},
		"a ReplicaSet of size 0 loses all its pods": {
			newSnapshot(0, newPods(3)), decision{Delete: 3, Why: "3 pods are there, 0 are wanted"}},
		"a ReplicaSet that has its size is left alone": {
			newSnapshot(3, newPods(3)), decision{Why: "all of 3 pods are there"}},
		"at most 500 pods are created in one sync": {
			newSnapshot(501, nil), decision{Create: 500, Why: "0 of 501 pods are there"}},
		"exactly 500 missing pods are created in one sync": {
			newSnapshot(500, nil), decision{Create: 500, Why: "0 of 500 pods are there"}},
		"at most 500 pods are deleted in one sync": {
			newSnapshot(0, newPods(501)), decision{Delete: 500, Why: "501 pods are there, 0 are wanted"}},
		"the largest size there is does not overflow": {
			newSnapshot(math.MaxInt32, newPods(1)), decision{Create: 500, Why: "1 of 2147483647 pods is there"}},
		"a size that nobody gave is 1": {
			newSnapshot(7, nil, noSize), decision{Create: 1, Why: "0 of 1 pods are there"}},
		"one of them": {
			newSnapshot(1, newPods(2)), decision{Delete: 1, Why: "2 pods are there, 1 is wanted"}},
		"the only one": {
			newSnapshot(0, newPods(1)), decision{Delete: 1, Why: "1 pod is there, 0 are wanted"}},
		"missing pods have to wait once one was refused": {
			newSnapshot(5, newPods(2), refused), decision{Wait: 1280 * time.Millisecond,
				Why: "2 of 5 pods are there; one was refused, and the next try is in 1.28s"}},
		"surplus pods do not wait for that": {
			newSnapshot(2, newPods(5), refused), decision{Delete: 3, Why: "5 pods are there, 2 are wanted"}},
		"nor does a ReplicaSet that has its size": {
			newSnapshot(3, newPods(3), refused), decision{Why: "all of 3 pods are there"}},
		"nothing is created while own writes are unseen": {
			newSnapshot(5, newPods(2), unsettled), decision{Why: "the cache does not yet show what was written last"}},
		"nothing is deleted while own writes are unseen": {
			newSnapshot(2, newPods(5), unsettled), decision{Why: "the cache does not yet show what was written last"}},
		"nothing is created for a ReplicaSet that is being deleted": {
			newSnapshot(5, newPods(2), leaving), decision{Why: "the ReplicaSet is being deleted"}},
		"nothing is deleted for a ReplicaSet that is being deleted": {
			newSnapshot(2, newPods(5), leaving), decision{Why: "the ReplicaSet is being deleted"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := Decide(test.snapshot)
			got := decision{plan.Create, len(plan.Delete), plan.Wait, plan.Why}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if wantEmpty := test.want.Create+test.want.Delete == 0 && test.want.Wait == 0; plan.Empty() != wantEmpty {
				t.Errorf("Empty() = %v, want %v", plan.Empty(), wantEmpty)
			}
		})
	}
}

func TestDecidePicksThePodsThatGoFirst(t *testing.T) {
	unready := newPod("c-unready", notReady)
	old := newPod("b-old", ready(100*time.Hour))
	young := newPod("a-young", ready(time.Minute))
	active := newSnapshot(1, nil).Active
	active = append(active, old, unready, young)

	plan := Decide(newSnapshot(1, active))
	if diff := cmp.Diff([]string{"c-unready", "a-young"}, namesOf(plan.Delete)); diff != "" {
		t.Errorf("deleted pods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b-old", "c-unready", "a-young"}, namesOf(active)); diff != "" {
		t.Errorf("the snapshot was changed by the decision (-before +after):\n%s", diff)
	}
}

func TestChoosesVictims(t *testing.T) {
	tests := map[string]struct {
		snapshot Snapshot
		want     bool
	}{
		"some of the pods go":          {newSnapshot(1, newPods(3)), true},
		"all pods go":                  {newSnapshot(0, newPods(3)), false},
		"no pod goes":                  {newSnapshot(3, newPods(3)), false},
		"pods are missing":             {newSnapshot(4, newPods(3)), false},
		"all pods go, but not at once": {newSnapshot(0, newPods(501)), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.snapshot.ChoosesVictims(); got != test.want {
				t.Errorf("ChoosesVictims() = %v, want %v", got, test.want)
			}
		})
	}
}
