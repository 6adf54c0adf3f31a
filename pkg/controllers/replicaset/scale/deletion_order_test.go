package scale

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestDeletionOrder states each rule as a pair of Pods that differ in what that rule looks
// at, and in something that a later rule would decide the other way.
func TestDeletionOrder(t *testing.T) {
	const hour = time.Hour
	crowded := func(pod *corev1.Pod) { pod.Spec.NodeName = "crowded" }
	tests := map[string]struct {
		first, second *corev1.Pod
	}{
		"unassigned goes before assigned": {
			newPod("b", on(""), phase(corev1.PodPending), notReady, cost("9")),
			newPod("a", phase(corev1.PodPending), notReady)},
		"unassigned goes before assigned, even if ready and dear": {
			newPod("b", on(""), cost("9")),
			newPod("a", phase(corev1.PodPending), notReady)},
		"Pending goes before Unknown": {
			newPod("b", phase(corev1.PodPending), cost("9")),
			newPod("a", phase(corev1.PodUnknown))},
		"no phase yet counts as Pending": {
			newPod("b", phase(""), cost("9")),
			newPod("a", phase(corev1.PodUnknown))},
		"Unknown goes before Running, even if ready": {
			newPod("b", phase(corev1.PodUnknown), cost("9")),
			newPod("a", notReady)},
		"not ready goes before ready": {
			newPod("b", notReady, cost("9")),
			newPod("a")},
		"a lower deletion cost goes first": {
			newPod("b", cost("-10"), ready(100*hour)),
			newPod("a", crowded, ready(hour))},
		"a deletion cost that is no number counts 0": {
			newPod("b", cost("much"), ready(100*hour)),
			newPod("a", cost("1"), ready(hour))},
		"a pod on a node with more siblings goes first": {
			newPod("b", crowded, ready(100*hour)),
			newPod("a", ready(hour))},
		"the pod that became ready more recently goes first": {
			newPod("b", ready(hour), created(9*hour)),
			newPod("a", ready(9*hour), created(hour), restarts(5, 0))},
		"a pod that became ready in the future is the most recent one": {
			newPod("b", ready(-hour)),
			newPod("a", ready(time.Second))},
		"ready since nobody knows when goes before any known time": {
			newPod("b", readySinceNobodyKnows),
			newPod("a", ready(-hour), restarts(5, 0))},
		"more restarts of a container go first": {
			newPod("b", restarts(2, 0), created(100*hour)),
			newPod("a", restarts(1, 7), created(hour))},
		"with equal restarts of containers, more of sidecars go first": {
			newPod("b", restarts(1, 3), created(100*hour)),
			newPod("a", restarts(1, 2), created(hour))},
		"the pod created more recently goes first": {
			newPod("b", created(hour)),
			newPod("a", created(100*hour))},
		"created in the future is more recent than a second ago": {
			newPod("b", created(-hour)),
			newPod("a", created(time.Second))},
		"created nobody knows when goes before any known time": {
			newPod("b", createdNobodyKnowsWhen),
			newPod("a", created(-hour))},
		"the ready times of pods that are not ready are not compared": {
			newPod("b", notReady, created(hour)),
			newPod("a", func(pod *corev1.Pod) {
				readyCondition(corev1.ConditionFalse, ago(time.Second))(pod)
			}, created(100*hour))},
		"ages of one bucket are alike, the UID decides": {
			newPod("a", ready(5*hour), created(5*hour)),
			newPod("b", ready(8*hour), created(8*hour))},
		"ages of one bucket are alike, the UID decides the other way too": {
			newPod("a", ready(8*hour), created(8*hour)),
			newPod("b", ready(5*hour), created(5*hour))},
		"restarts decide between pods that became ready at the same time": {
			newPod("b", ready(8*hour), restarts(1, 0)),
			newPod("a", ready(8*hour))},
		"but not between different times in one bucket, there the UID does": {
			newPod("a", ready(5*hour)),
			newPod("b", ready(8*hour), restarts(1, 0))},
		"of two equal pods the UID decides": {
			newPod("a"),
			newPod("b", on("node-of-a"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			siblings := []*corev1.Pod{test.first, test.second, newPod("x", crowded), newPod("y", crowded)}
			for _, active := range [][]*corev1.Pod{{test.first, test.second}, {test.second, test.first}} {
				snapshot := newSnapshot(1, active)
				if test.first.Spec.NodeName == "crowded" || test.second.Spec.NodeName == "crowded" {
					snapshot.Siblings = siblings
				}
				want := []string{test.first.Name}
				if diff := cmp.Diff(want, namesOf(Decide(snapshot).Delete)); diff != "" {
					t.Errorf("deleted pods (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestDeletionOrderDoesNotDependOnChance sorts the same Pods from many starting positions,
// some of them such that each comes before the next in a circle.
func TestDeletionOrderDoesNotDependOnChance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...func(*corev1.Pod)) func(*corev1.Pod) { return from[random.IntN(len(from))] }
	for range 200 {
		var active []*corev1.Pod
		for i := range 12 {
			active = append(active, newPod(fmt.Sprintf("%02d", i),
				on([]string{"", "n1", "n2"}[random.IntN(3)]),
				pick(phase(corev1.PodPending), phase(corev1.PodRunning)),
				pick(notReady, readySinceNobodyKnows, ready(-time.Hour), ready(5*time.Hour), ready(6*time.Hour), ready(8*time.Hour)),
				pick(cost("0"), cost("1")),
				pick(restarts(0, 0), restarts(1, 0), restarts(1, 1)),
				pick(createdNobodyKnowsWhen, created(-time.Hour), created(5*time.Hour), created(8*time.Hour), created(100*time.Hour)),
			))
		}
		snapshot := newSnapshot(1, active, func(s *Snapshot) { s.Siblings = active })
		want := namesOf(inDeletionOrder(snapshot))
		for range 20 {
			random.Shuffle(len(active), func(i, j int) { active[i], active[j] = active[j], active[i] })
			if diff := cmp.Diff(want, namesOf(inDeletionOrder(snapshot))); diff != "" {
				t.Fatalf("order of the same pods from another starting position (-want +got):\n%s", diff)
			}
		}
	}
}
