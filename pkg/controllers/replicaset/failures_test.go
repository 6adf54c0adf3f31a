package replicaset

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/pkg/controllers/pods"
)

// refusedByNode is what a kubelet does to a Pod that it cannot run.
func refusedByNode(pod *corev1.Pod) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "NodeAffinity", Message: "no"}
}

// tainted is what the taint of its node brings over a Pod.
func tainted(pod *corev1.Pod) {
	terminating(pod)
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager", LastTransitionTime: metav1.NewTime(testNow),
	}}
}

// befall lets something happen to all active Pods.
func (l *loop) befall(what func(*corev1.Pod)) {
	for _, pod := range l.existing(pods.IsActive) {
		l.editPod(pod.Name, what)
	}
}

// live syncs, and lets the loop sleep as it says, until the time has passed. It returns how many
// syncs there were.
func (l *loop) live(d time.Duration) (syncs int) {
	l.t.Helper()
	for until := l.clock.Now().Add(d); ; syncs++ {
		l.catchUp()
		before := len(l.made())
		lookAgain := l.syncWeb()
		if len(l.made()) > before {
			continue
		}
		if lookAgain == 0 || l.clock.Now().Add(lookAgain).After(until) {
			l.clock.SetTime(until)
			return syncs
		}
		l.clock.SetTime(l.clock.Now().Add(lookAgain))
	}
}

func TestPodsThatFailAreReplacedEverLater(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	l.live(0)
	l.befall(refusedByNode)
	l.live(0)
	l.expectActive(3)
	if told := l.told(); strings.Contains(strings.Join(told, ""), "Warning") {
		t.Errorf("the first are replaced at once, and this is told: %v", told)
	}
	for i, pause := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		l.befall(refusedByNode)
		l.live(0)
		l.requests = nil
		if syncs := l.live(pause - time.Millisecond); syncs > 1 {
			t.Errorf("%d syncs in a pause", syncs)
		}
		l.expectRequests()
		l.expectActive(0)
		if diff := cmp.Diff([]string{"Warning PodFailureBackoff Not creating pods for " + pause.String() +
			": pods fail as soon as they are made (NodeAffinity: no)"}, l.told()); diff != "" {
			t.Errorf("told in pause %d (-want +got):\n%s", i, diff)
		}
		l.expectMetric("controller_manager_pod_failure_backoffs_total", float64(i+1))
		l.expectMetric("controller_manager_replicasets_with_failing_pods", 1)
		l.live(time.Millisecond)
		l.expectActive(3)
		l.told()
	}
	l.live(time.Minute)
	l.expectMetric("controller_manager_replicasets_with_failing_pods", 0)
	l.befall(refusedByNode)
	l.live(0)
	l.expectActive(3)
}

func TestWhatCountsAsAFailure(t *testing.T) {
	ran := func(pod *corev1.Pod) {
		refusedByNode(pod)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(pod.CreationTimestamp.Add(time.Minute))},
		}}}
	}
	nothing := func(*corev1.Pod) {}
	tests := map[string]struct {
		befalls func(*corev1.Pod)
		gone    bool // before the loop looks
		counts  bool
	}{
		"a node refuses it":                   {refusedByNode, false, true},
		"a node refuses it, and it is gone":   {refusedByNode, true, true},
		"a taint takes it away":               {tainted, false, true},
		"a taint has taken it away":           {tainted, true, true},
		"it fails after a minute":             {ran, false, false},
		"it fails after a minute and is gone": {ran, true, false},
		"somebody deletes it":                 {terminating, false, false},
		"somebody has deleted it":             {nothing, true, false},
		"it ends well":                        {func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 0))
			l.live(0)
			for range 2 {
				for _, pod := range l.existing(pods.IsActive) {
					l.editPod(pod.Name, test.befalls)
					l.catchUp()
					if test.gone {
						l.removePod(pod.Name)
					}
				}
				l.live(0)
			}
			if waits := len(l.existing(pods.IsActive)) == 0; waits != test.counts {
				t.Errorf("it waits: %v", waits)
			}
		})
	}
}

func TestWithoutTheBackoffPodsAreReplacedAtOnce(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	l.pauses = false
	for range 10 {
		l.live(0)
		l.expectActive(3)
		l.befall(refusedByNode)
	}
}

func TestAScaleDownAndTheEndDoNotWait(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	for range 2 {
		l.live(0)
		for _, pod := range l.existing(pods.IsActive)[1:] {
			l.editPod(pod.Name, refusedByNode)
		}
	}
	l.live(0)
	l.expectActive(1)
	if got := l.status().Replicas; got != 1 {
		t.Errorf("status.replicas = %d in the pause", got)
	}
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 0 })
	l.live(0)
	l.expectActive(0)
	l.mu.Lock()
	delete(l.server.replicaSets, web.String())
	l.mu.Unlock()
	l.catchUp()
	l.syncWeb()
	if len(l.failures.sets) > 0 {
		t.Errorf("%v are kept for a ReplicaSet that is gone", l.failures.sets)
	}
}
