package e2e

import (
	"fmt"
	"testing"

	"controller-manager/test/e2e/lab"
)

// TestScaleUpAndDown: the events say from what size to what. PR kubernetes#101142, kubernetes#8667,
// openshift/origin#16759.
func TestScaleUpAndDown(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	s.Complete("web")
	for _, size := range []int32{5, 2, 0, 2} {
		s.Kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", size))
		s.Complete("web")
		st := s.Until(fmt.Sprintf("%d Pods", size), func(st *lab.Story) string { return lab.WrongPods(st, size) })
		d, rs := st.Deployments.Now["web"], st.ReplicaSets.Now[lab.WebReplicaSet]
		if got := d.Status; got.ReadyReplicas != size || got.UnavailableReplicas != 0 {
			t.Errorf("at size %d: %d ready, %d unavailable, want %d and 0", size, got.ReadyReplicas, got.UnavailableReplicas, size)
		}
		if got := rs.Annotations["deployment.kubernetes.io/desired-replicas"]; got != fmt.Sprint(size) {
			t.Errorf("at size %d: the annotation desired-replicas is %s", size, got)
		}
	}
	const scaled = "deployment-controller Normal ScalingReplicaSet: Scaled %s replica set " + lab.WebReplicaSet + " from %d to %d"
	st := s.UntilEvents("Deployment",
		fmt.Sprintf(scaled, "up", 3, 5), fmt.Sprintf(scaled, "down", 5, 2), fmt.Sprintf(scaled, "down", 2, 0), fmt.Sprintf(scaled, "up", 0, 2))
	if revision := lab.RevisionOf(st.Deployments.Now["web"]); revision != 1 || len(st.ReplicaSets.Now) != 1 {
		t.Errorf("there are %d ReplicaSets and revision %d, want scaling to make no new one", len(st.ReplicaSets.Now), revision)
	}
	for _, sighting := range st.Pods.Seen {
		if sighting.Change == "DELETED" {
			s.UntilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulDelete: Deleted pod: "+sighting.Object.Name)
		}
	}
	s.WantPodCreates(3 + 2 + 2)
}

func TestScaleDownTakesTheLeastValuablePods(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 5))
	pods := s.Complete("web").Pods.Present()
	cheap, dear, unready := pods[0].Name, pods[1].Name, pods[2].Name
	s.PatchPod(cheap, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-10"}}}`)
	s.PatchPod(dear, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"10"}}}`)
	s.PatchPod(unready, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"100"}}}`)
	s.MakeUnready(unready)
	s.Until("the ReplicaSet to know of the unready Pod", func(st *lab.Story) string {
		if got := st.ReplicaSets.Now[lab.WebReplicaSet].Status.ReadyReplicas; got != 4 {
			return fmt.Sprintf("%d are ready", got)
		}
		return ""
	})

	for _, step := range []struct {
		size   int32
		victim string
	}{{4, unready}, {3, cheap}} {
		s.Edit("web", lab.Replicas(step.size))
		st := s.Until(fmt.Sprintf("%d Pods", step.size), func(st *lab.Story) string { return lab.WrongPods(st, step.size) })
		if st.Pods.Now[step.victim] != nil {
			t.Errorf("scaling to %d took another Pod than %s", step.size, step.victim)
		}
	}
	s.Edit("web", lab.Replicas(1))
	st := s.Until("one Pod", func(st *lab.Story) string { return lab.WrongPods(st, 1) })
	if st.Pods.Now[dear] == nil {
		t.Errorf("the last Pod is %s, want %s, whose deletion cost is the highest", st.Pods.Present()[0].Name, dear)
	}
}

func TestADeletedPodIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2))
	victim := s.Complete("web").Pods.Present()[0]
	s.DeletePod(victim.Name)
	s.Until("two Pods without the deleted one", func(st *lab.Story) string {
		if st.Pods.Now[victim.Name] != nil {
			return "it is still there"
		}
		return lab.WrongPods(st, 2)
	})
	s.Complete("web")
	s.WantPodCreates(3)
}
