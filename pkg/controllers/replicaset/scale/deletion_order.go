package scale

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/pods"
)

// deletionOrder says which of two Pods goes first when a ReplicaSet shrinks: the first rule
// that sees a difference decides. Where none does, the UID decides, which is as good as
// chance but gives the same answer every time. The rules are those of
// https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#scaling-down-a-replicaset
//
// The two rules that compare ages let the UID decide between different ages in one bucket,
// but leave equal ages to the rules after them. So three Pods can each come before the
// next, in a circle. That is how kube-controller-manager compares, and what two Pods
// should be told apart by is the same here; candidates are sorted by UID beforehand, so
// that also in a circle the same Pods always give the same order.
var deletionOrder = []rule{
	unscheduledFirst,
	pendingThenUnknownThenRunning,
	notReadyFirst,
	lowerDeletionCostFirst,
	moreCrowdedNodeFirst,
	readyMoreRecentlyFirst,
	moreRestartsFirst,
	createdMoreRecentlyFirst,
}

// rule compares two Pods: negative if a should go before b, positive if b should go before
// a, 0 if the rule sees no difference.
type rule func(a, b candidate) int

// candidate is a Pod that may have to go.
type candidate struct {
	*corev1.Pod
	crowd int // the siblings on its node, itself included
	now   time.Time
}

// victims returns the Pods to delete, in the order of deletion.
func victims(s Snapshot) []*corev1.Pod {
	chosen := slices.Clone(s.Active)
	if s.ChoosesVictims() {
		chosen = inDeletionOrder(s)
	}
	return chosen[:s.surplus()]
}

// inDeletionOrder returns the active Pods, the most dispensable first.
func inDeletionOrder(s Snapshot) []*corev1.Pod {
	crowds := map[string]int{}
	for _, sibling := range s.Siblings {
		crowds[sibling.Spec.NodeName]++
	}
	candidates := make([]candidate, 0, len(s.Active))
	for _, pod := range s.Active {
		candidates = append(candidates, candidate{Pod: pod, crowd: crowds[pod.Spec.NodeName], now: s.Now})
	}
	slices.SortFunc(candidates, byUID)
	slices.SortStableFunc(candidates, byDeletionOrder)
	sorted := make([]*corev1.Pod, 0, len(candidates))
	for _, candidate := range candidates {
		sorted = append(sorted, candidate.Pod)
	}
	return sorted
}

func byDeletionOrder(a, b candidate) int {
	for _, rule := range deletionOrder {
		if order := rule(a, b); order != 0 {
			return order
		}
	}
	return byUID(a, b)
}

func byUID(a, b candidate) int { return cmp.Compare(a.UID, b.UID) }

func unscheduledFirst(a, b candidate) int {
	return trueFirst(a.Spec.NodeName == "", b.Spec.NodeName == "")
}

func pendingThenUnknownThenRunning(a, b candidate) int {
	return cmp.Compare(progress(a.Status.Phase), progress(b.Status.Phase))
}

// progress is how far a Pod has come. A Pod without a phase has not started yet.
func progress(phase corev1.PodPhase) int {
	switch phase {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	}
	return 0
}

func notReadyFirst(a, b candidate) int {
	return trueFirst(!pods.IsReady(a.Pod), !pods.IsReady(b.Pod))
}

func lowerDeletionCostFirst(a, b candidate) int {
	return cmp.Compare(pods.DeletionCost(a.Pod), pods.DeletionCost(b.Pod))
}

func moreCrowdedNodeFirst(a, b candidate) int {
	return cmp.Compare(b.crowd, a.crowd)
}

// readyMoreRecentlyFirst sees no difference between Pods that are not ready.
func readyMoreRecentlyFirst(a, b candidate) int {
	return younger(a, b, pods.ReadySince(a.Pod), pods.ReadySince(b.Pod))
}

func moreRestartsFirst(a, b candidate) int {
	containersA, sidecarsA := pods.Restarts(a.Pod)
	containersB, sidecarsB := pods.Restarts(b.Pod)
	return cmp.Or(cmp.Compare(containersB, containersA), cmp.Compare(sidecarsB, sidecarsA))
}

func createdMoreRecentlyFirst(a, b candidate) int {
	return younger(a, b, a.CreationTimestamp.Time, b.CreationTimestamp.Time)
}

// younger orders the Pod first whose time is in the younger bucket. Within one bucket the
// UID decides, but for equal times nothing does.
func younger(a, b candidate, sinceA, sinceB time.Time) int {
	if sinceA.Equal(sinceB) {
		return 0
	}
	return cmp.Or(cmp.Compare(ageBucket(sinceA, a.now), ageBucket(sinceB, b.now)), byUID(a, b))
}

// ageBucket sorts ages into buckets that double in width: among Pods of a similar age the
// choice is left to chance, so that it does not fall on the Pods of one node or zone
// only because those were made a moment later. A time in the future, from a clock that is
// ahead, is in the youngest bucket but one; a time that nobody wrote down in the youngest.
func ageBucket(since, now time.Time) int {
	if since.IsZero() {
		return -1
	}
	return bits.Len64(uint64(max(0, now.Sub(since))))
}

// trueFirst orders the one of which something is true before the one of which it is not.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
