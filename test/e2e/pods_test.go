package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
)

// The tests in this file are about which Pods count: as a Deployment's, as there, as available.

// TestPodsThatEndedAreReplacedAndLeftAlone: they are no Pods any more for anybody but their
// reader, until their owner goes. kubernetes#91672, #88304, #15835.
func TestPodsThatEndedAreReplacedAndLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	pods := s.complete("web").pods.present()
	failed, succeeded := pods[0].Name, pods[1].Name
	s.patchPod(failed, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
	s.until("a fourth Pod", func(st *story) string { return wrongPods(st, 3+1) })
	s.complete("web")
	s.patchPod(succeeded, `{"status":{"phase":"Succeeded"}}`, "status")
	s.until("a fifth Pod", func(st *story) string { return wrongPods(st, 3+2) })
	for _, size := range []int32{1, 5} {
		s.edit("web", replicas(size))
		s.complete("web")
		st := s.until(fmt.Sprintf("%d Pods and those that ended", size), func(st *story) string { return wrongPods(st, size+2) })
		if st.pods.now[failed] == nil || st.pods.now[succeeded] == nil {
			t.Error("a Pod that ended was deleted, want it left for its reader")
		}
	}
	s.wantPodCreates(3 + 2 + 4)
	s.kubectl("delete", "deployment/web")
	s.untilGone()
}

// TestTerminatingPodsAreCountedApart: a Pod that is on its way out keeps no room from its
// replacement, and is told of in a count of its own. kubernetes#99513, #107920, #32567,
// KEP-3973.
func TestTerminatingPodsAreCountedApart(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 4, rolling("0", "1"), held()))
	s.complete("web")
	s.within(bounds{most: 4, least: 3}, func() {
		s.edit("web", image("web:2"))
		s.complete("web")
	})
	s.untilTerminatingOf(4, 0)
	s.edit("web", replicas(1))
	s.complete("web")
	s.edit("web", replicas(4))
	s.complete("web")
	s.untilTerminatingOf(4, 3)
	s.letGo()
	s.untilTerminatingOf(0, 0)
	s.wantPodCreates(4 + 4 + 3)
}

// untilTerminatingOf waits until so many Pods of web:1 and web:2 are terminating, and are
// counted as that by their ReplicaSets and by the Deployment.
func (s *space) untilTerminatingOf(old, fresh int32) {
	s.t.Helper()
	s.until("the terminating Pods to be counted", func(st *story) string {
		for image, want := range map[string]int32{"web:1": old, "web:2": fresh} {
			rs := st.withImage(image)
			var there int32
			for _, pod := range st.podsOf(rs) {
				if pod.DeletionTimestamp != nil {
					there++
				}
			}
			if got := rs.Status.TerminatingReplicas; there != want || got == nil || *got != want {
				return fmt.Sprintf("of %s %d are, and it counts %v, want %d", image, there, got, want)
			}
		}
		if got := st.deployments.now["web"].Status.TerminatingReplicas; got == nil || *got != old+fresh {
			return fmt.Sprintf("the Deployment counts %v, want %d", got, old+fresh)
		}
		return ""
	})
}

// letGo takes the finalizer off all Pods.
func (s *space) letGo() {
	s.t.Helper()
	for _, pod := range s.recorder.now().pods.present() {
		s.patchPod(pod.Name, `{"metadata":{"finalizers":null}}`)
	}
}

// TestReadyByAClockThatIsWrong: the time since when a Pod is ready comes from its node. One
// that is ahead delays its availability until we get there; one that is behind does not,
// and no time at all is no beginning. kubernetes#29229.
func TestReadyByAClockThatIsWrong(t *testing.T) {
	t.Parallel()
	const minReadySeconds = 2
	s := newSpace(t)
	s.create(newDeployment("web", 3, minReady(minReadySeconds), mode(localcluster.ModeNever)))
	pods := s.untilEach("web:1=3").pods.present()
	s.until("the Pods to have nodes", func(st *story) string {
		for _, pod := range st.pods.present() {
			if pod.Spec.NodeName == "" {
				return pod.Name + " has none"
			}
		}
		return ""
	})
	ahead := metav1.NewTime(time.Now().Add(4 * time.Second).Truncate(time.Second))
	mark := s.lab.mark(t)
	s.makeReady(pods[0].Name, new(metav1.NewTime(time.Now().Add(-time.Hour))))
	s.makeReady(pods[1].Name, &ahead)
	s.makeReady(pods[2].Name, nil)
	st := s.untilReady(3, 2)
	for _, sighting := range st.replicaSets.seen {
		due := ahead.Add(minReadySeconds * time.Second)
		if sighting.object.Status.AvailableReplicas == 2 && sighting.at.Before(due) {
			t.Errorf("at %s two were available, want not before %s", clock(sighting.at), clock(due))
		}
	}
	s.untilWritten()
	// Three Pods became ready, two available.
	if got := s.statusWrites(mark)["replicasets"]; got > 3+2 {
		t.Errorf("the ReplicaSet's status was written %d times, want 5 at the most", got)
	}
	for _, size := range []int32{2, 1, 0} {
		s.edit("web", replicas(size))
		s.untilEach(fmt.Sprintf("web:1=%d", size))
	}
}

// makeReady makes a Pod Running and Ready, since a time or since nobody knows when.
func (s *space) makeReady(name string, since *metav1.Time) {
	s.t.Helper()
	conditions := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if since != nil {
		conditions[0].LastTransitionTime = *since
	}
	s.patchPod(name, fmt.Sprintf(`{"status":{"phase":"Running","conditions":%s}}`, encode(s.t, conditions)), "status")
}

// untilReady waits until the ReplicaSet counts so many ready and available Pods.
func (s *space) untilReady(ready, available int32) *story {
	s.t.Helper()
	return s.until(fmt.Sprintf("%d ready and %d available Pods", ready, available), func(st *story) string {
		if got := st.withImage("web:1").Status; got.ReadyReplicas != ready || got.AvailableReplicas != available {
			return fmt.Sprintf("%d and %d are", got.ReadyReplicas, got.AvailableReplicas)
		}
		return ""
	})
}
