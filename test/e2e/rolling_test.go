package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// TestRollingUpdateStaysWithinItsBounds: among the bounds are those that came to nothing
// after rounding: openshift/origin#7700, emqx-operator#1267.
func TestRollingUpdateStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		size               int32
		surge, unavailable string
		bounds             lab.Bounds
	}{
		{"one replica with the defaults gets a second before the first goes", 1, "25%", "25%", lab.Bounds{Most: 2, Least: 1}},
		{"one replica with both bounds 0 after rounding goes first", 1, "0", "25%", lab.Bounds{Most: 1, Least: 0}},
		{"three replicas with both bounds 0 after rounding go one by one", 3, "0", "10%", lab.Bounds{Most: 3, Least: 2}},
		{"three replicas with the defaults get a fourth before one goes", 3, "25%", "25%", lab.Bounds{Most: 4, Least: 3}},
		{"surge only", 4, "1", "0", lab.Bounds{Most: 5, Least: 4}},
		{"unavailable only", 4, "0", "1", lab.Bounds{Most: 4, Least: 3}},
		{"percentages: surge is rounded up and unavailable down", 10, "25%", "25%", lab.Bounds{Most: 13, Least: 8}},
		{"a whole new set beside the old one", 3, "100%", "0", lab.Bounds{Most: 6, Least: 3}},
		{"more unavailable than there are", 3, "1", "5", lab.Bounds{Most: 4, Least: 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.Create(lab.NewDeployment("web", test.size, lab.Rolling(test.surge, test.unavailable)))
			s.Complete("web")
			s.Within(test.bounds, func() {
				s.Edit("web", lab.Image("web:2"))
				s.Complete("web")
			})
			s.wantRolledOut(test.size, test.bounds)
		})
	}
}

// wantRolledOut checks what a rollout from web:1 to web:2 has left.
func (s *space) wantRolledOut(size int32, b lab.Bounds) {
	s.T.Helper()
	if said := s.Kubectl("rollout", "status", "deployment/web", "--timeout=10s"); !strings.Contains(said, "successfully rolled out") {
		s.T.Errorf("kubectl rollout status said %q", said)
	}
	st := s.Until("the old Pods to be gone", func(st *lab.Story) string { return lab.WrongPods(st, size) })
	before, after := st.WithImage("web:1"), st.WithImage("web:2")
	if *before.Spec.Replicas != 0 || *after.Spec.Replicas != size {
		s.T.Errorf("the sizes are %d old and %d new, want 0 and %d", *before.Spec.Replicas, *after.Spec.Replicas, size)
	}
	if lab.RevisionOf(before) != 1 || lab.RevisionOf(after) != 2 || lab.RevisionOf(st.Deployments.Now["web"]) != 2 {
		s.T.Errorf("the revisions are %d old, %d new, %d Deployment, want 1, 2 and 2", lab.RevisionOf(before), lab.RevisionOf(after), lab.RevisionOf(st.Deployments.Now["web"]))
	}
	if got := largestSum(st); got != b.Most {
		s.T.Errorf("the ReplicaSets wanted %d Pods together at the most, want the surge used up to %d", got, b.Most)
	}
	if size >= 10 { // else there may be no step between the first and the last
		s.WantConditionSeen("web", appsv1.DeploymentProgressing, "True ReplicaSetUpdated", `ReplicaSet "`+after.Name+`" is progressing.`)
	}
	s.WantPodCreates(2 * int(size))
}

// largestSum is the largest sum of spec.replicas over all ReplicaSets that was seen.
func largestSum(st *lab.Story) int32 {
	var replay lab.Story
	var largest int32
	for _, sighting := range st.ReplicaSets.Seen {
		replay.ReplicaSets.Add(sighting)
		largest = max(largest, replay.SumOfSizes())
	}
	return largest
}

func TestRolloverKeepsTheBoundsOfAllRevisionsTogether(t *testing.T) {
	t.Parallel()
	const last = 8
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 6, lab.Rolling("1", "1"), lab.HistoryLimit(2), lab.Mode(localcluster.ModeSlow)))
	s.Complete("web")
	s.Within(lab.Bounds{Most: 7, Least: 5}, func() {
		for revision := 2; revision <= last; revision++ {
			s.Edit("web", lab.Image(fmt.Sprintf("web:%d", revision)))
			s.UntilNewest("web", revision)
		}
		s.Complete("web")
	})
	st := s.Until("the history to be trimmed", func(st *lab.Story) string {
		if got := len(st.ReplicaSets.Now); got != 1+2 {
			return fmt.Sprintf("there are %d ReplicaSets", got)
		}
		return ""
	})
	if rs := st.Newest("web"); *rs.Spec.Replicas != 6 || st.SumOfSizes() != 6 {
		t.Errorf("the newest ReplicaSet has size %d of %d together, want 6 of 6", *rs.Spec.Replicas, st.SumOfSizes())
	}
}

func TestMinReadySecondsDelaysAvailabilityAndTheRollout(t *testing.T) {
	t.Parallel()
	const minReadyTime = 3 * time.Second
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2, lab.Rolling("1", "0"), lab.MinReady(3)))
	st := s.Complete("web")
	for _, sighting := range st.ReplicaSets.Seen {
		if got, most := sighting.Object.Status.AvailableReplicas, st.AvailableAt(minReadyTime, sighting.At); got > most {
			t.Errorf("at %s the ReplicaSet counts %d available, but %d have been ready for %s", sighting.At, got, most, minReadyTime)
		}
	}
	s.Within(lab.Bounds{Most: 3, Least: 2, MinReady: minReadyTime}, func() {
		s.Edit("web", lab.Image("web:2"))
		s.Complete("web")
	})
}

func TestMinReadySecondsReachesTheReplicaSetWithoutANewRevision(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.Edit("web", lab.MinReady(2))
	st := s.Complete("web")
	rs := st.ReplicaSets.Now[lab.WebReplicaSet]
	if len(st.ReplicaSets.Now) != 1 || rs.Spec.MinReadySeconds != 2 || lab.RevisionOf(rs) != 1 {
		t.Errorf("there are %d ReplicaSets, minReadySeconds %d, revision %d, want 1, 2, 1", len(st.ReplicaSets.Now), rs.Spec.MinReadySeconds, lab.RevisionOf(rs))
	}
}
