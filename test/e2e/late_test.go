package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
)

// TestWithWatchesThatLagBehind shows the controllers everything late, their own writes too.
func TestWithWatchesThatLagBehind(t *testing.T) {
	watch := func(resource string, action proxy.Action) proxy.Rule {
		return proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: resource}, Action: action}
	}
	var pods proxy.Gate
	late := proxy.DelayAnswer(300 * time.Millisecond)
	b := behindProxy(t, watch("deployments", late), watch("replicasets", late), watch("pods", late), watch("pods", proxy.Hold(&pods)))
	// A group, so that the process behind the proxy waits for all that run in parallel.
	t.Run("group", func(t *testing.T) {
		// kubernetes#49637
		t.Run("a new rollout long after the last is not timed out", func(t *testing.T) {
			t.Parallel()
			b.newSpace(t).rollOutLongAfter()
		})
		t.Run("no count of a status goes below 0", func(t *testing.T) {
			t.Parallel()
			b.newSpace(t).wantNoNegativeCounts()
		})
	})
	// Alone, since it holds the watch of all Pods.
	t.Run("a Pod that was just released survives a scale-down", func(t *testing.T) {
		s := b.newSpace(t)
		if s.notOurs("the built-in loops delete by name, whosever the Pod is by now") {
			return
		}
		s.wantReleasedPodsSurvive(&pods)
	})
}

// wantNoNegativeCounts shrinks and grows a Deployment while its ReplicaSet's available Pods
// are counted late. A negative count would be refused for ever. kubernetes#21900, #41697, #30028.
func (s *space) wantNoNegativeCounts() {
	s.t.Helper()
	const size = 20
	s.create(newDeployment("web", size))
	s.complete("web")
	for _, size := range []int32{1, size, 1, size} {
		s.edit("web", replicas(size))
		s.untilSized(size)
	}
	st := s.complete("web")
	if got := st.deployments.now["web"].Status; got.UnavailableReplicas != 0 || got.ReadyReplicas != size {
		s.t.Errorf("in the end %d are unavailable and %d ready, want 0 and %d", got.UnavailableReplicas, got.ReadyReplicas, size)
	}
	refused := s.lab.requests(s.t, s.start, func(entry localcluster.AuditEntry) bool {
		return entry.Namespace == s.name && entry.Code == http.StatusUnprocessableEntity
	})
	for _, request := range refused {
		s.t.Errorf("a write that the API server could not take: %s", describe(request))
	}
}

// wantReleasedPodsSurvive takes Pods away from their ReplicaSet while it cannot see that, and
// shrinks it by so many. PR kubernetes#138818.
func (s *space) wantReleasedPodsSurvive(watch *proxy.Gate) {
	s.t.Helper()
	const size, released = 20, 10
	s.createReplicaSet(newReplicaSet("web", size))
	pods := s.untilReplicaSet("web", size).pods.present()[:released]
	for _, pod := range pods {
		// They would be the first to go.
		s.patchPod(pod.Name, `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"}}}`)
	}
	s.untilWritten() // by then that has been seen
	watch.Shut()
	defer watch.Open()
	for _, pod := range pods {
		s.patchPod(pod.Name, `{"metadata":{"labels":{"app":null},"ownerReferences":null}}`)
	}
	s.kubectl("scale", "replicaset/web", fmt.Sprintf("--replicas=%d", size-released))
	s.poll("the released Pods to be tried", func(context.Context) string {
		if got := len(s.podDeletes(http.StatusConflict)); got < released {
			return fmt.Sprintf("%d were", got)
		}
		return ""
	})
	watch.Open()
	st := s.untilReplicaSet("web", size-released)
	for _, pod := range pods {
		if now := st.pods.now[pod.Name]; now == nil || now.DeletionTimestamp != nil || metav1.GetControllerOf(now) != nil {
			s.t.Errorf("Pod %s, which was released, is %v", pod.Name, now)
		}
	}
	if got := len(st.pods.now); got != size {
		s.t.Errorf("there are %d Pods, want the %d released and the %d others", got, released, size-released)
	}
	s.wantPodCreates(size)
}
