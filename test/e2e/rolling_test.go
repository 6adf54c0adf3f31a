package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
)

// TestRollingUpdateStaysWithinItsBounds: among the bounds are those that came to nothing
// after rounding: openshift/origin#7700, emqx-operator#1267.
func TestRollingUpdateStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		size               int32
		surge, unavailable string
		bounds             bounds
	}{
		{"one replica with the defaults gets a second before the first goes", 1, "25%", "25%", bounds{most: 2, least: 1}},
		{"one replica with both bounds 0 after rounding goes first", 1, "0", "25%", bounds{most: 1, least: 0}},
		{"three replicas with both bounds 0 after rounding go one by one", 3, "0", "10%", bounds{most: 3, least: 2}},
		{"three replicas with the defaults get a fourth before one goes", 3, "25%", "25%", bounds{most: 4, least: 3}},
		{"surge only", 4, "1", "0", bounds{most: 5, least: 4}},
		{"unavailable only", 4, "0", "1", bounds{most: 4, least: 3}},
		{"percentages: surge is rounded up and unavailable down", 10, "25%", "25%", bounds{most: 13, least: 8}},
		{"a whole new set beside the old one", 3, "100%", "0", bounds{most: 6, least: 3}},
		{"more unavailable than there are", 3, "1", "5", bounds{most: 4, least: 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.create(newDeployment("web", test.size, rolling(test.surge, test.unavailable)))
			s.complete("web")
			s.within(test.bounds, func() {
				s.edit("web", image("web:2"))
				s.complete("web")
			})
			s.wantRolledOut(test.size, test.bounds)
		})
	}
}

// wantRolledOut checks what a rollout from web:1 to web:2 has left.
func (s *space) wantRolledOut(size int32, b bounds) {
	s.t.Helper()
	if said := s.kubectl("rollout", "status", "deployment/web", "--timeout=10s"); !strings.Contains(said, "successfully rolled out") {
		s.t.Errorf("kubectl rollout status said %q", said)
	}
	st := s.until("the old Pods to be gone", func(st *story) string { return wrongPods(st, size) })
	before, after := st.withImage("web:1"), st.withImage("web:2")
	if *before.Spec.Replicas != 0 || *after.Spec.Replicas != size {
		s.t.Errorf("the sizes are %d old and %d new, want 0 and %d", *before.Spec.Replicas, *after.Spec.Replicas, size)
	}
	if revisionOf(before) != 1 || revisionOf(after) != 2 || revisionOf(st.deployments.now["web"]) != 2 {
		s.t.Errorf("the revisions are %d old, %d new, %d Deployment, want 1, 2 and 2", revisionOf(before), revisionOf(after), revisionOf(st.deployments.now["web"]))
	}
	if got := largestSum(st); got != b.most {
		s.t.Errorf("the ReplicaSets wanted %d Pods together at the most, want the surge used up to %d", got, b.most)
	}
	if size >= 10 { // else there may be no step between the first and the last
		s.wantConditionSeen("web", appsv1.DeploymentProgressing, "True ReplicaSetUpdated", `ReplicaSet "`+after.Name+`" is progressing.`)
	}
	s.wantPodCreates(2 * int(size))
}

// largestSum is the largest sum of spec.replicas over all ReplicaSets that was seen.
func largestSum(st *story) int32 {
	var replay story
	var largest int32
	for _, sighting := range st.replicaSets.seen {
		replay.replicaSets.add(sighting)
		largest = max(largest, replay.sumOfSizes())
	}
	return largest
}

func TestRolloverKeepsTheBoundsOfAllRevisionsTogether(t *testing.T) {
	t.Parallel()
	const last = 8
	s := newSpace(t)
	s.create(newDeployment("web", 6, rolling("1", "1"), historyLimit(2), mode(localcluster.ModeSlow)))
	s.complete("web")
	s.within(bounds{most: 7, least: 5}, func() {
		for revision := 2; revision <= last; revision++ {
			s.edit("web", image(fmt.Sprintf("web:%d", revision)))
			s.untilNewest("web", revision)
		}
		s.complete("web")
	})
	st := s.until("the history to be trimmed", func(st *story) string {
		if got := len(st.replicaSets.now); got != 1+2 {
			return fmt.Sprintf("there are %d ReplicaSets", got)
		}
		return ""
	})
	if rs := st.newest("web"); *rs.Spec.Replicas != 6 || st.sumOfSizes() != 6 {
		t.Errorf("the newest ReplicaSet has size %d of %d together, want 6 of 6", *rs.Spec.Replicas, st.sumOfSizes())
	}
}

func TestMinReadySecondsDelaysAvailabilityAndTheRollout(t *testing.T) {
	t.Parallel()
	const minReadyTime = 3 * time.Second
	s := newSpace(t)
	s.create(newDeployment("web", 2, rolling("1", "0"), minReady(3)))
	st := s.complete("web")
	for _, sighting := range st.replicaSets.seen {
		if got, most := sighting.object.Status.AvailableReplicas, st.availableAt(minReadyTime, sighting.at); got > most {
			t.Errorf("at %s the ReplicaSet counts %d available, but %d have been ready for %s", sighting.at, got, most, minReadyTime)
		}
	}
	s.within(bounds{most: 3, least: 2, minReady: minReadyTime}, func() {
		s.edit("web", image("web:2"))
		s.complete("web")
	})
}

// availableAt counts the Pods that have been ready for a time at a moment.
func (st *story) availableAt(minReady time.Duration, at time.Time) int32 {
	var count int32
	for _, pod := range st.pods.present() {
		if since, ready := readySince(pod); ready && !since.Add(minReady).After(at) {
			count++
		}
	}
	return count
}

func TestMinReadySecondsReachesTheReplicaSetWithoutANewRevision(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1))
	s.complete("web")
	s.edit("web", minReady(2))
	st := s.complete("web")
	rs := st.replicaSets.now[webReplicaSet]
	if len(st.replicaSets.now) != 1 || rs.Spec.MinReadySeconds != 2 || revisionOf(rs) != 1 {
		t.Errorf("there are %d ReplicaSets, minReadySeconds %d, revision %d, want 1, 2, 1", len(st.replicaSets.now), rs.Spec.MinReadySeconds, revisionOf(rs))
	}
}
