package e2e

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file are about which Pods count: as a Deployment's, as there, as available.

// TestPodsThatEndedAreReplacedAndLeftAlone: they are no Pods any more for anybody but their
// reader, until their owner goes. kubernetes#91672, #88304, #15835.
func TestPodsThatEndedAreReplacedAndLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	pods := s.Complete("web").Pods.Present()
	failed, succeeded := pods[0].Name, pods[1].Name
	s.PatchPod(failed, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
	s.Until("a fourth Pod", func(st *lab.Story) string { return lab.WrongPods(st, 3+1) })
	s.Complete("web")
	s.PatchPod(succeeded, `{"status":{"phase":"Succeeded"}}`, "status")
	s.Until("a fifth Pod", func(st *lab.Story) string { return lab.WrongPods(st, 3+2) })
	for _, size := range []int32{1, 5} {
		s.Edit("web", lab.Replicas(size))
		s.Complete("web")
		st := s.Until(fmt.Sprintf("%d Pods and those that ended", size), func(st *lab.Story) string { return lab.WrongPods(st, size+2) })
		if st.Pods.Now[failed] == nil || st.Pods.Now[succeeded] == nil {
			t.Error("a Pod that ended was deleted, want it left for its reader")
		}
	}
	s.WantPodCreates(3 + 2 + 4)
	s.Kubectl("delete", "deployment/web")
	s.untilGone()
}

// TestTerminatingPodsAreCountedApart: a Pod that is on its way out keeps no room from its
// replacement, and is told of in a count of its own. kubernetes#99513, #107920, #32567,
// KEP-3973.
func TestTerminatingPodsAreCountedApart(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 4, lab.Rolling("0", "1"), lab.Held()))
	s.Complete("web")
	s.Within(lab.Bounds{Most: 4, Least: 3}, func() {
		s.Edit("web", lab.Image("web:2"))
		s.Complete("web")
	})
	s.untilTerminatingOf(4, 0)
	s.Edit("web", lab.Replicas(1))
	s.Complete("web")
	s.Edit("web", lab.Replicas(4))
	s.Complete("web")
	s.untilTerminatingOf(4, 3)
	s.LetGo()
	s.untilTerminatingOf(0, 0)
	s.WantPodCreates(4 + 4 + 3)
}

// untilTerminatingOf waits until so many Pods of web:1 and web:2 are terminating, and are
// counted as that by their ReplicaSets and by the Deployment.
func (s *space) untilTerminatingOf(old, fresh int32) {
	s.T.Helper()
	s.Until("the terminating Pods to be counted", func(st *lab.Story) string {
		for image, want := range map[string]int32{"web:1": old, "web:2": fresh} {
			rs := st.WithImage(image)
			var there int32
			for _, pod := range st.PodsOf(rs) {
				if pod.DeletionTimestamp != nil {
					there++
				}
			}
			if got := rs.Status.TerminatingReplicas; there != want || got == nil || *got != want {
				return fmt.Sprintf("of %s %d are, and it counts %v, want %d", image, there, got, want)
			}
		}
		if got := st.Deployments.Now["web"].Status.TerminatingReplicas; got == nil || *got != old+fresh {
			return fmt.Sprintf("the Deployment counts %v, want %d", got, old+fresh)
		}
		return ""
	})
}

// TestReadyByAClockThatIsWrong: the time since when a Pod is ready comes from its node. One
// that is ahead delays its availability until we get there; one that is behind does not,
// and no time at all is no beginning. kubernetes#29229.
func TestReadyByAClockThatIsWrong(t *testing.T) {
	t.Parallel()
	const minReadySeconds = 2
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.MinReady(minReadySeconds), lab.Mode(localcluster.ModeNever)))
	pods := s.UntilEach("web:1=3").Pods.Present()
	s.Until("the Pods to have nodes", func(st *lab.Story) string {
		for _, pod := range st.Pods.Present() {
			if pod.Spec.NodeName == "" {
				return pod.Name + " has none"
			}
		}
		return ""
	})
	ahead := metav1.NewTime(time.Now().Add(4 * time.Second).Truncate(time.Second))
	mark := s.Lab.Mark(t)
	s.MakeReady(pods[0].Name, new(metav1.NewTime(time.Now().Add(-time.Hour))))
	s.MakeReady(pods[1].Name, &ahead)
	s.MakeReady(pods[2].Name, nil)
	st := s.untilReady(3, 2)
	for _, sighting := range st.ReplicaSets.Seen {
		due := ahead.Add(minReadySeconds * time.Second)
		if sighting.Object.Status.AvailableReplicas == 2 && sighting.At.Before(due) {
			t.Errorf("at %s two were available, want not before %s", lab.Clock(sighting.At), lab.Clock(due))
		}
	}
	s.UntilWritten()
	// Three Pods became ready, two available.
	if got := s.StatusWrites(mark)["replicasets"]; got > 3+2 {
		t.Errorf("the ReplicaSet's status was written %d times, want 5 at the most", got)
	}
	for _, size := range []int32{2, 1, 0} {
		s.Edit("web", lab.Replicas(size))
		s.UntilEach(fmt.Sprintf("web:1=%d", size))
	}
}

// untilReady waits until the ReplicaSet counts so many ready and available Pods.
func (s *space) untilReady(ready, available int32) *lab.Story {
	s.T.Helper()
	return s.Until(fmt.Sprintf("%d ready and %d available Pods", ready, available), func(st *lab.Story) string {
		if got := st.WithImage("web:1").Status; got.ReadyReplicas != ready || got.AvailableReplicas != available {
			return fmt.Sprintf("%d and %d are", got.ReadyReplicas, got.AvailableReplicas)
		}
		return ""
	})
}
