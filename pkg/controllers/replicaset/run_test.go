package replicaset

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// runLoop runs a test in a bubble with a time of its own, with the informers and the workers
// of a loop at work. stop ends the loop and returns when Run has.
func runLoop(t *testing.T, objects []metav1.Object, prepare func(*loop), test func(t *testing.T, l *loop, stop func())) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t, objects...)
		l.Controller.clock = clock.RealClock{} // the bubble's
		prepare(l)
		ctx, cancel := context.WithCancel(t.Context())
		l.factory.Start(ctx.Done())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l.Run(ctx, 2)
		}()
		stop := func() {
			cancel()
			<-ended
		}
		synctest.Wait()
		<-time.After(time.Second) // of the bubble: the wait for the caches polls
		synctest.Wait()
		test(t, l, stop)
		stop()
		l.factory.Shutdown()
	})
}

func TestRunFollowsWhatIsWanted(t *testing.T) {
	none := func(*loop) {}
	runLoop(t, []metav1.Object{newReplicaSet(3, 0)}, none, func(t *testing.T, l *loop, _ func()) {
		l.expectActive(3)
		if got := l.status().Replicas; got != 3 {
			t.Errorf("status.replicas = %d, want 3", got)
		}
		l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 1 })
		synctest.Wait()
		l.expectActive(1)
		for _, pod := range l.existing(func(*corev1.Pod) bool { return true }) {
			l.removePod(pod.Name)
		}
		synctest.Wait()
		l.expectActive(1)
		if creates, deletes := len(l.made("create")), len(l.made("delete")); creates != 4 || deletes != 2 {
			t.Errorf("%d creates and %d deletes were sent, want 4 and 2", creates, deletes)
		}
	})
}

func TestRunRetriesWhatFailed(t *testing.T) {
	refuse := func(l *loop) { l.trouble = l.quotaOf(0) }
	runLoop(t, []metav1.Object{newReplicaSet(2, 0)}, refuse, func(t *testing.T, l *loop, _ func()) {
		l.expectActive(0)
		l.mu.Lock()
		l.trouble = nil
		l.mu.Unlock()
		<-time.After(time.Minute)
		synctest.Wait()
		l.expectActive(2)
	})
}

func TestAPanicStopsNoOtherReplicaSet(t *testing.T) {
	other := newReplicaSet(2, 0, func(rs *appsv1.ReplicaSet) {
		rs.Name, rs.UID = "other", "uid-other"
		rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
		rs.Spec.Template.Labels = rs.Spec.Selector.MatchLabels
	})
	fault := func(l *loop) {
		first := true
		l.trouble = func(r request) trouble {
			l.mu.Lock()
			defer l.mu.Unlock()
			if r.verb == "create" && first {
				first = false
				panic("a fault in this program")
			}
			return trouble{}
		}
	}
	runLoop(t, []metav1.Object{newReplicaSet(2, 0), other}, fault, func(t *testing.T, l *loop, _ func()) {
		l.expectMetric("controller_manager_sync_panics_total", 1)
		l.expectActive(4)
	})
}

func TestRunReturnsWhenTheLastSyncHasFinished(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	block := func(l *loop) {
		begun, finish = make(chan struct{}), make(chan struct{}) // of the bubble
		l.trouble = func(r request) trouble {
			if r.verb == "create" {
				close(begun)
				<-finish
			}
			return trouble{}
		}
	}
	runLoop(t, []metav1.Object{newReplicaSet(3, 0)}, block, func(t *testing.T, l *loop, stop func()) {
		<-begun
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Run returned while a request was under way")
		default:
		}
		close(finish)
		<-stopped
		l.expectActive(1)
	})
}

func TestRunEndsIfTheCachesAreNeverFilled(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	l.synced = []cache.InformerSynced{func() bool { return false }}
	l.queue.Add(web)
	l.Run(canceled(t), 1)
	l.expectRequests()
}

func TestAFullQuotaCostsFewRequests(t *testing.T) {
	full := func(l *loop) { l.trouble = l.quotaOf(5) }
	runLoop(t, []metav1.Object{newReplicaSet(1000, 0)}, full, func(t *testing.T, l *loop, _ func()) {
		l.expectActive(5)
		// The five start, one after the other, and each step of each wakes the ReplicaSet.
		for _, pod := range l.existing(func(*corev1.Pod) bool { return true }) {
			for _, status := range []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue} {
				<-time.After(100 * time.Millisecond)
				l.editPod(pod.Name, func(pod *corev1.Pod) {
					pod.Spec.NodeName = "node"
					pod.Status.Phase = corev1.PodRunning
					pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
				})
			}
		}
		// Others come in the place of each Pod that goes, so that there never is room.
		for range 30 {
			l.addPod(newTestPod("another", orphaned, relabeled))
			<-time.After(10 * time.Second)
			l.removePod("another")
		}
		synctest.Wait()
		if refused := len(l.made("create")) - 5; refused >= 40 {
			t.Errorf("%d creates were refused in 5 minutes, want less than 40", refused)
		}
		told := map[string]bool{}
		for _, event := range l.told() {
			told[event] = true
		}
		if len(told) >= 10 {
			t.Errorf("%d different events, want less than 10: %v", len(told), told)
		}

		// Room is found within half a minute, without being told of it.
		l.mu.Lock()
		l.trouble = l.quotaOf(6)
		l.mu.Unlock()
		<-time.After(30 * time.Second)
		synctest.Wait()
		l.expectActive(6)
	})
}
