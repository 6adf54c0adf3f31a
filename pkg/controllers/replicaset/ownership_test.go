package replicaset

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/ownership"
)

// controllerOf returns the UID of a Pod's controller on the server.
func (l *loop) controllerOf(name string) types.UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return ownership.ControllerUID(l.server.pods["default/"+name])
}

func TestAdoptsAndReleases(t *testing.T) {
	another := func(pod *corev1.Pod) {
		pod.OwnerReferences[0].UID, pod.OwnerReferences[0].Name = "uid-another", "another"
	}
	tests := map[string]struct {
		edit     func(*corev1.Pod)
		requests []string
		owner    types.UID
	}{
		"an orphan that the selector matches is adopted":            {orphaned, []string{"get replicasets web", "patch pods a"}, "uid-web"},
		"a pod that the selector no longer matches is released":     {relabeled, []string{"patch pods a"}, ""},
		"a pod of another controller is left to it":                 {another, nil, "uid-another"},
		"an orphan that has failed is not adopted":                  {func(pod *corev1.Pod) { orphaned(pod); failed(pod) }, nil, ""},
		"an orphan that is being deleted is not adopted":            {func(pod *corev1.Pod) { orphaned(pod); terminating(pod) }, nil, ""},
		"an orphan that the selector does not match is not adopted": {func(pod *corev1.Pod) { orphaned(pod); relabeled(pod) }, nil, ""},
		"a pod that has failed keeps its owner":                     {func(pod *corev1.Pod) { relabeled(pod); failed(pod) }, nil, "uid-web"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(0, 0), newTestPod("a", test.edit))
			lookAgain := l.syncWeb()
			l.expectRequests(test.requests...)
			if owner := l.controllerOf("a"); owner != test.owner {
				t.Errorf("the pod's controller is %q, want %q", owner, test.owner)
			}
			if waits := len(test.requests) > 0; waits != (lookAgain == catchUp) {
				t.Errorf("looks again after %v", lookAgain)
			}

			// While the cache shows the pod as it was, nothing is done twice.
			l.syncWeb()
			l.expectRequests()
		})
	}
}

func TestASyncThatAdoptsEndsThere(t *testing.T) {
	l := newLoop(t, newReplicaSet(2, 0), newTestPod("a", orphaned))
	l.syncWeb()
	l.expectRequests("get replicasets web", "patch pods a")
	l.catchUp()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by the adoption (-want +got):\n%s", diff)
	}
	l.syncWeb()
	l.expectActive(2)
}

func TestAReleaseIsSeenAndReplaced(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 1), newTestPod("a", relabeled))
	l.syncWeb()
	l.catchUp()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by the release (-want +got):\n%s", diff)
	}
	l.settle()
	l.expectActive(2)
	if deletes := l.made("delete"); len(deletes) > 0 {
		t.Errorf("deletes = %v, want the released pod to live on", deletes)
	}
}

func TestNothingIsAdoptedForAnOwnerThatIsGone(t *testing.T) {
	tests := map[string]func(*appsv1.ReplicaSet){
		"it is being deleted": func(rs *appsv1.ReplicaSet) { rs.DeletionTimestamp = &metav1.Time{Time: testNow} },
		"it was replaced":     func(rs *appsv1.ReplicaSet) { rs.UID = "another" },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 0), newTestPod("a", orphaned))
			l.editReplicaSet("web", edit)
			l.syncWeb()
			l.expectRequests("get replicasets web")
		})
	}
}

func TestAnAdoptionThatFails(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0), newTestPod("a", orphaned))
	l.trouble = failing("patch pods", errors.New("no patches today"))
	l.failWeb("adopting a: no patches today")
	l.trouble = nil
	l.settle()
	if owner := l.controllerOf("a"); owner != "uid-web" {
		t.Errorf("the pod's controller is %q, want uid-web", owner)
	}
}

func TestPodsOfOtherNamespacesCountForNothing(t *testing.T) {
	elsewhere := func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }
	l := newLoop(t, newReplicaSet(1, 1), newTestPod("a"), newTestPod("b", elsewhere, unready), newTestPod("c", elsewhere, orphaned))
	l.syncWeb()
	l.expectRequests()
}

func TestASelectorThatCannotBeUsed(t *testing.T) {
	tests := map[string]*metav1.LabelSelector{
		"it cannot be read":                  {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near", Values: []string{"web"}}}},
		"it is empty":                        {},
		"there is none":                      nil,
		"it does not match its own template": {MatchLabels: map[string]string{"app": "other"}},
	}
	for name, selector := range tests {
		t.Run(name, func(t *testing.T) {
			rs := newReplicaSet(3, 1, func(rs *appsv1.ReplicaSet) {
				rs.Spec.Selector = selector
				rs.Generation = 2
			})
			l := newLoop(t, rs, newTestPod("a"), newTestPod("b"), newTestPod("c", orphaned))
			if lookAgain := l.syncWeb(); lookAgain != 0 {
				t.Errorf("looks again after %v, want no retry", lookAgain)
			}
			l.expectRequests("update replicasets/status web")
			want := rs.Status
			want.ObservedGeneration = 2
			if diff := cmp.Diff(want, l.status()); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			l.catchUp()
			l.syncWeb()
			l.expectRequests()
		})
	}
}
