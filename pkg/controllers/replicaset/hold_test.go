package replicaset

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"controller-manager/pkg/controllers/worker"
)

func TestARefusalThatReadsDifferentEachTimeIsNotTriedWithoutPause(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	tries := 0
	l.trouble = func(r request) trouble {
		if r.verb != "create" {
			return trouble{}
		}
		tries++
		return trouble{err: apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("request %d", tries))}
	}
	for range 10 {
		l.catchUp() // shows the status in which the refusal was reported, which wakes the ReplicaSet
		lookAgain, err := l.sync(t.Context(), web)
		if err == nil && lookAgain == 0 {
			t.Error("a create that is held back must be looked at again")
		}
	}
	if tries != 1 {
		t.Errorf("tried %d times at the same moment", tries)
	}
	if got := l.status().Conditions; len(got) != 1 {
		t.Errorf("conditions %v, want the failure to stay", got)
	}
	l.editReplicaSet("web", func(*appsv1.ReplicaSet) {})
	l.catchUp()
	if _, _ = l.sync(t.Context(), web); tries != 2 {
		t.Errorf("a change must be tried at once, tried %d times", tries)
	}
}

func TestADeleteThatCannotBeAnsweredHoldsUpNothingElse(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 2), newTestPod("a"), newTestPod("b"))
	l.trouble = func(r request) trouble {
		if r.verb == "delete" {
			return trouble{err: apierrors.NewInternalError(errors.New("failed calling webhook"))}
		}
		return trouble{}
	}
	l.failWeb("failed calling webhook")
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 5 })
	l.requests = nil
	l.settle()
	l.expectActive(5)
	if got := l.made("delete"); len(got) != 0 {
		t.Errorf("a Pod that is wanted again was deleted: %v", got)
	}
}

func TestWhatIsOnlyToBeTriedAgainIsNotReported(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	l.trouble = func(r request) trouble {
		if r.verb == "create" {
			return trouble{err: apierrors.NewConflict(corev1.Resource("resourcequotas"), "few", errors.New("somebody was faster"))}
		}
		return trouble{}
	}
	l.failWeb("somebody was faster")
	if got := l.status().Conditions; len(got) != 0 || len(l.told()) != 0 {
		t.Errorf("conditions %v", got)
	}
}

func TestACreateThatWorksEndsTheHoldingBack(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	l.trouble = failing("create", apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("quota")))
	refused := l.clock.Now()
	l.failWeb("quota")
	l.trouble = nil
	l.catchUp()
	l.syncWeb()
	l.expectActive(1)
	if left := l.refusals.Left(newReplicaSet(1, 0), refused); left != 0 {
		t.Errorf("the next create is held back for %s", left)
	}
}

// TestWaitingIsNoSuccess: a sync that only waits must not end the backoff of one that failed.
func TestWaitingIsNoSuccess(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	l.syncWeb()
	if _, err := l.sync(t.Context(), web); !errors.Is(err, worker.ErrPutOff) {
		t.Errorf("a sync that waits for its own creates ends with %v, want to be put off", err)
	}
}
