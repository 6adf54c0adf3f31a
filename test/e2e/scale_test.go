package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestScaleUpAndDown: the events say from what size to what. PR kubernetes#101142, kubernetes#8667,
// openshift/origin#16759.
func TestScaleUpAndDown(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	s.complete("web")
	for _, size := range []int32{5, 2, 0, 2} {
		s.kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", size))
		s.complete("web")
		st := s.until(fmt.Sprintf("%d Pods", size), func(st *story) string { return wrongPods(st, size) })
		d, rs := st.deployments.now["web"], st.replicaSets.now[webReplicaSet]
		if got := d.Status; got.ReadyReplicas != size || got.UnavailableReplicas != 0 {
			t.Errorf("at size %d: %d ready, %d unavailable, want %d and 0", size, got.ReadyReplicas, got.UnavailableReplicas, size)
		}
		if got := rs.Annotations["deployment.kubernetes.io/desired-replicas"]; got != fmt.Sprint(size) {
			t.Errorf("at size %d: the annotation desired-replicas is %s", size, got)
		}
	}
	const scaled = "deployment-controller Normal ScalingReplicaSet: Scaled %s replica set " + webReplicaSet + " from %d to %d"
	st := s.untilEvents("Deployment",
		fmt.Sprintf(scaled, "up", 3, 5), fmt.Sprintf(scaled, "down", 5, 2), fmt.Sprintf(scaled, "down", 2, 0), fmt.Sprintf(scaled, "up", 0, 2))
	if revision := revisionOf(st.deployments.now["web"]); revision != 1 || len(st.replicaSets.now) != 1 {
		t.Errorf("there are %d ReplicaSets and revision %d, want scaling to make no new one", len(st.replicaSets.now), revision)
	}
	for _, sighting := range st.pods.seen {
		if sighting.change == "DELETED" {
			s.untilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulDelete: Deleted pod: "+sighting.object.Name)
		}
	}
	s.wantPodCreates(3 + 2 + 2)
}

// wrongPods says how the number of Pods differs from the wanted one, if it does.
func wrongPods(st *story, want int32) string {
	if got := len(st.pods.now); got != int(want) {
		return fmt.Sprintf("there are %d Pods, want %d", got, want)
	}
	return ""
}

func TestScaleDownTakesTheLeastValuablePods(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 5))
	pods := s.complete("web").pods.present()
	cheap, dear, unready := pods[0].Name, pods[1].Name, pods[2].Name
	s.patchPod(cheap, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-10"}}}`)
	s.patchPod(dear, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"10"}}}`)
	s.patchPod(unready, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"100"}}}`)
	s.makeUnready(unready)
	s.until("the ReplicaSet to know of the unready Pod", func(st *story) string {
		if got := st.replicaSets.now[webReplicaSet].Status.ReadyReplicas; got != 4 {
			return fmt.Sprintf("%d are ready", got)
		}
		return ""
	})

	for _, step := range []struct {
		size   int32
		victim string
	}{{4, unready}, {3, cheap}} {
		s.edit("web", replicas(step.size))
		st := s.until(fmt.Sprintf("%d Pods", step.size), func(st *story) string { return wrongPods(st, step.size) })
		if st.pods.now[step.victim] != nil {
			t.Errorf("scaling to %d took another Pod than %s", step.size, step.victim)
		}
	}
	s.edit("web", replicas(1))
	st := s.until("one Pod", func(st *story) string { return wrongPods(st, 1) })
	if st.pods.now[dear] == nil {
		t.Errorf("the last Pod is %s, want %s, whose deletion cost is the highest", st.pods.present()[0].Name, dear)
	}
}

// makeUnready makes a ready Pod unready for good; KWOK leaves it so.
func (s *space) makeUnready(name string) {
	s.t.Helper()
	s.patchReady(name, corev1.ConditionFalse)
}

func (s *space) patchReady(name string, status corev1.ConditionStatus) {
	s.t.Helper()
	pod := s.recorder.now().pods.now[name]
	conditions := slices.Clone(pod.Status.Conditions)
	for i := range conditions {
		if conditions[i].Type == corev1.PodReady {
			conditions[i].Status = status
		}
	}
	s.patchPod(name, fmt.Sprintf(`{"status":{"conditions":%s}}`, encode(s.t, conditions)), "status")
}

func TestADeletedPodIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 2))
	victim := s.complete("web").pods.present()[0]
	s.deletePod(victim.Name)
	s.until("two Pods without the deleted one", func(st *story) string {
		if st.pods.now[victim.Name] != nil {
			return "it is still there"
		}
		return wrongPods(st, 2)
	})
	s.complete("web")
	s.wantPodCreates(3)
}
