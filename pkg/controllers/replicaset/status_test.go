package replicaset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const statusWrite = "update replicasets/status web"

func TestStatusIsWrittenOnceAndOnlyIfItChanged(t *testing.T) {
	l := newLoop(t, newReplicaSet(2, 2), newTestPod("a"), newTestPod("b"))
	l.syncWeb()
	l.expectRequests()

	l.editPod("a", unready)
	l.catchUp()
	l.syncWeb()
	l.expectRequests(statusWrite)

	// The cache does not show that write yet: a second one would be refused.
	l.editPod("b", unready)
	l.catchUpPods()
	if lookAgain := l.syncWeb(); lookAgain != catchUp {
		t.Errorf("looks again after %v while it waits, want %v", lookAgain, catchUp)
	}
	l.expectRequests()

	l.woken()
	l.catchUp()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by its own write (-want +got):\n%s", diff)
	}
	l.syncWeb()
	l.expectRequests(statusWrite)
	if got := l.status(); got.ReadyReplicas != 0 || got.Replicas != 2 {
		t.Errorf("status counts %d ready of %d, want 0 of 2", got.ReadyReplicas, got.Replicas)
	}
}

func TestNoPodIsTouchedWhileTheOwnStatusIsUnseen(t *testing.T) {
	l := newLoop(t, newReplicaSet(2, 0), newTestPod("a"), newTestPod("b"))
	l.syncWeb()
	l.expectRequests(statusWrite)
	l.removePod("a")
	l.catchUpPods()
	l.syncWeb()
	l.expectRequests()
	l.catchUp()
	l.syncWeb()
	if got := l.made("create"); len(got) != 1 {
		t.Errorf("creates = %v, want one", got)
	}
}

func TestTheGenerationIsReportedAlone(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 1), newTestPod("a"))
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { rs.Spec.MinReadySeconds = 1 })
	l.catchUp()
	l.syncWeb()
	l.expectRequests(statusWrite)
	if got := l.status().ObservedGeneration; got != 2 {
		t.Errorf("observedGeneration = %d, want 2", got)
	}
}

func TestAStatusWriteThatFails(t *testing.T) {
	t.Run("somebody else wrote first", func(t *testing.T) {
		l := newLoop(t, newReplicaSet(1, 0), newTestPod("a"))
		l.editReplicaSet("web", func(*appsv1.ReplicaSet) {})
		if err := l.failWeb("writing the status"); !apierrors.IsConflict(err) {
			t.Errorf("error %v does not wrap the conflict", err)
		}
	})
	t.Run("the ReplicaSet is gone", func(t *testing.T) {
		l := newLoop(t, newReplicaSet(1, 0), newTestPod("a"))
		delete(l.server.replicaSets, web.String())
		l.syncWeb()
		l.expectRequests(statusWrite)
	})
	t.Run("after a create that was refused both errors are told", func(t *testing.T) {
		l := newLoop(t, newReplicaSet(2, 0), newTestPod("a"))
		l.trouble = func(r request) trouble {
			if r.verb == "create" {
				return trouble{err: forbidden(r.name)}
			}
			return trouble{err: timeout()}
		}
		err := l.failWeb("hands off")
		if !apierrors.IsForbidden(err) {
			t.Errorf("error %v does not wrap the refusal", err)
		}
		l.failWeb("writing the status")
	})
}

func TestAServerThatDropsTerminatingReplicas(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 1, func(rs *appsv1.ReplicaSet) { rs.Status.TerminatingReplicas = nil }), newTestPod("a"))
	l.dropsTerminating = true
	l.syncWeb()
	l.expectRequests(statusWrite) // it cannot know before it has tried
	for range 3 {
		l.catchUp()
		l.editPod("a", func(pod *corev1.Pod) { pod.Annotations = map[string]string{"touched": pod.ResourceVersion} })
		l.catchUp()
		l.syncWeb()
	}
	l.expectRequests()

	// Other changes are still written, and tell when the server has become a newer one.
	l.dropsTerminating = false
	l.editPod("a", unready)
	l.catchUp()
	l.syncWeb()
	l.expectRequests(statusWrite)
	if got := l.status().TerminatingReplicas; got == nil || *got != 0 {
		t.Errorf("terminatingReplicas = %v on a server that keeps it, want 0", got)
	}
	l.catchUp()
	l.editPod("a", terminating)
	l.catchUp()
	l.syncWeb()
	if got := *l.status().TerminatingReplicas; got != 1 {
		t.Errorf("terminatingReplicas = %d, want 1", got)
	}
}

func TestACountThatIsThereIsKeptRightOnAServerThatDropsNewOnes(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 1), newTestPod("a"), newTestPod("b", terminating))
	l.terminatingCount.Wrote(new(int32), nil)
	l.syncWeb()
	l.expectRequests(statusWrite)
}

func TestLooksAgainWhenTheNextPodMatures(t *testing.T) {
	readySince := func(ago time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Status.Conditions[0].LastTransitionTime.Time = testNow.Add(-ago) }
	}
	slow := func(rs *appsv1.ReplicaSet) {
		rs.Spec.MinReadySeconds = 10
		rs.Status.AvailableReplicas = 0
	}
	l := newLoop(t, newReplicaSet(2, 2, slow), newTestPod("a", readySince(3*time.Second)), newTestPod("b", readySince(time.Second)))
	if got := l.syncWeb(); got != 7*time.Second {
		t.Errorf("looks again after %v, want 7s", got)
	}
	l.expectRequests()
	l.clock.SetTime(testNow.Add(7 * time.Second))
	if got := l.syncWeb(); got != 2*time.Second {
		t.Errorf("looks again after %v, want 2s", got)
	}
	l.expectRequests(statusWrite)

	// The wait for its own write comes first.
	l.clock.SetTime(testNow.Add(7500 * time.Millisecond))
	if got := l.syncWeb(); got != catchUp {
		t.Errorf("looks again after %v, want %v", got, catchUp)
	}
	l.clock.SetTime(testNow.Add(8500 * time.Millisecond))
	if got := l.syncWeb(); got != 500*time.Millisecond {
		t.Errorf("looks again after %v, want 500ms", got)
	}
}

func TestAReplicaSetThatIsGoneIsForgotten(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 1), newTestPod("a"))
	l.inflight.deleting(newReplicaSet(1, 1), l.inflight.cached("default", "a"))
	l.freshness.Wrote(web, podResource, "1000000")
	delete(l.server.replicaSets, web.String())
	l.catchUpReplicaSets()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by the deletion (-want +got):\n%s", diff)
	}
	if lookAgain := l.syncWeb(); lookAgain != 0 {
		t.Errorf("looks again after %v at a ReplicaSet that is gone", lookAgain)
	}
	if l.inflight.awaits(web) {
		t.Error("still waits for a delete of a ReplicaSet that is gone")
	}
	if lags := l.freshness.Behind(web); len(lags) > 0 {
		t.Errorf("still waits for %v of a ReplicaSet that is gone", lags)
	}
}
