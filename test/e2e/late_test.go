package e2e

import (
	"net/http"
	"testing"
	"time"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
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
		if s.NotOurs("the built-in loops delete by name, whosever the Pod is by now") {
			return
		}
		s.wantReleasedPodsSurvive(&pods)
	})
}

// wantNoNegativeCounts shrinks and grows a Deployment while its ReplicaSet's available Pods
// are counted late. A negative count would be refused for ever. kubernetes#21900, #41697, #30028.
func (s *space) wantNoNegativeCounts() {
	s.T.Helper()
	const size = 20
	s.Create(lab.NewDeployment("web", size))
	s.Complete("web")
	for _, size := range []int32{1, size, 1, size} {
		s.Edit("web", lab.Replicas(size))
		s.untilSized(size)
	}
	st := s.Complete("web")
	if got := st.Deployments.Now["web"].Status; got.UnavailableReplicas != 0 || got.ReadyReplicas != size {
		s.T.Errorf("in the end %d are unavailable and %d ready, want 0 and %d", got.UnavailableReplicas, got.ReadyReplicas, size)
	}
	refused := s.Lab.Requests(s.T, s.Start, func(entry localcluster.AuditEntry) bool {
		return entry.Namespace == s.Name && entry.Code == http.StatusUnprocessableEntity
	})
	for _, request := range refused {
		s.T.Errorf("a write that the API server could not take: %s", lab.Describe(request))
	}
}

// wantReleasedPodsSurvive takes Pods away from their ReplicaSet while it cannot see that, and
// shrinks it by so many. PR kubernetes#138818.
func (s *space) wantReleasedPodsSurvive(watch *proxy.Gate) {
	s.T.Helper()
	const size, released = 20, 10
	alive, st := s.ReleaseAndShrink(watch, size, released)
	if alive != released {
		s.T.Errorf("%d of the %d released Pods live on", alive, released)
	}
	if got := len(st.Pods.Now); got != size {
		s.T.Errorf("there are %d Pods, want the %d released and the %d others", got, released, size-released)
	}
	s.WantPodCreates(size)
}
