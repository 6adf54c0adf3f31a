package replicaset

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func forbidden(name string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name, errors.New("hands off"))
}

func TestDeletesTheSurplusInOrder(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 3), newTestPod("a"), newTestPod("b", unready), newTestPod("c", unready))
	var preconditions []metav1.Preconditions
	l.trouble = func(r request) trouble {
		if r.verb == "delete" {
			l.mu.Lock()
			defer l.mu.Unlock()
			preconditions = append(preconditions, *r.delete.Preconditions)
		}
		return trouble{}
	}
	uid, version := types.UID("uid-b"), l.server.pods["default/b"].ResourceVersion
	if lookAgain := l.syncWeb(); lookAgain != catchUp {
		t.Errorf("looks again after %v, want %v", lookAgain, catchUp)
	}
	l.expectRequests("delete pods b", "delete pods c", "update replicasets/status web")
	if !slices.ContainsFunc(preconditions, func(p metav1.Preconditions) bool { return *p.UID == uid && *p.ResourceVersion == version }) {
		t.Errorf("preconditions %v name no pod of UID %s at version %s", preconditions, uid, version)
	}
	want := []string{"Normal SuccessfulDelete Deleted pod: b", "Normal SuccessfulDelete Deleted pod: c"}
	if diff := cmp.Diff(want, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	l.expectMetric("controller_manager_pods_deleted_total", 2)

	// While the cache shows the three, nothing more is deleted.
	l.catchUpReplicaSets()
	l.syncWeb()
	l.expectRequests()

	l.catchUp()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by the deletions (-want +got):\n%s", diff)
	}
	l.settle()
	l.expectActive(1)
	if status := l.status(); status.Replicas != 1 || *status.TerminatingReplicas != 2 {
		t.Errorf("status counts %d pods and %d terminating, want 1 and 2", status.Replicas, *status.TerminatingReplicas)
	}
}

func TestSiblingsDecideWhichPodGoes(t *testing.T) {
	deployment := func(rs *appsv1.ReplicaSet) {
		yes := true
		rs.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-deployment", Controller: &yes}}
	}
	other := newReplicaSet(2, 2, deployment, func(rs *appsv1.ReplicaSet) { rs.Name, rs.UID = "old", "uid-old" })
	ofOther := func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, kind)}
	}
	on := func(node string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.NodeName = node }
	}
	tests := map[string]struct {
		owned bool
		want  string
	}{
		"with an owner, the pod on the node with the most siblings goes": {true, "delete pods b"},
		"without one, siblings count for nothing":                        {false, "delete pods a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rs := newReplicaSet(2, 3)
			if test.owned {
				deployment(rs)
			}
			l := newLoop(t, rs, other.DeepCopy(),
				newTestPod("a", on("quiet")), newTestPod("b", on("busy")), newTestPod("c", on("quiet")),
				newTestPod("d", ofOther, on("busy")), newTestPod("e", ofOther, on("busy")),
				// These do not count: one has ended, the other is in another namespace.
				newTestPod("f", ofOther, on("quiet"), failed), newTestPod("g", ofOther, on("quiet"), failed),
				newTestPod("h", ofOther, on("quiet"), func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }),
				newTestPod("i", ofOther, on("quiet"), func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }),
			)
			l.syncWeb()
			if diff := cmp.Diff([]string{test.want}, l.made("delete")); diff != "" {
				t.Errorf("deletes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPodThatHasChangedIsNotDeleted(t *testing.T) {
	l := newLoop(t, newReplicaSet(0, 1), newTestPod("a"))
	l.editPod("a", func(pod *corev1.Pod) { pod.Annotations = map[string]string{"changed": "by somebody"} })
	if lookAgain := l.syncWeb(); lookAgain != catchUp {
		t.Errorf("looks again after %v, want %v", lookAgain, catchUp)
	}
	if told := l.told(); len(told) > 0 {
		t.Errorf("told %v, want nothing", told)
	}
	l.expectRequests("delete pods a")

	// It waits for the cache to show the change, rather than to ask again and again.
	l.syncWeb()
	l.expectRequests()
	l.catchUp()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by a change that matters only because it is waited for (-want +got):\n%s", diff)
	}
	l.syncWeb()
	l.expectRequests("delete pods a")
	l.expectActive(0)
}

func TestADeleteThatWasAnsweredWithAConflictForNoReason(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 2), newTestPod("a", unready), newTestPod("b"))
	l.trouble = failing("delete pods", conflict("pods", "a")) // as a webhook may answer
	l.syncWeb()
	l.trouble = nil
	l.syncWeb()
	if diff := cmp.Diff([]string{"delete pods a"}, l.made("delete")); diff != "" {
		t.Errorf("deletes at once (-want +got):\n%s", diff)
	}
	l.clock.SetTime(testNow.Add(catchUp))
	l.syncWeb()
	l.settle()
	l.expectActive(1)
}

func TestAPodThatWasReleasedIsNotDeleted(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 2), newTestPod("a"), newTestPod("b", unready))
	l.editPod("b", func(pod *corev1.Pod) {
		orphaned(pod)
		relabeled(pod)
	})
	l.syncWeb()
	l.settle()
	l.expectActive(2)
}

func TestAPodThatIsGoneNeedNoDelete(t *testing.T) {
	l := newLoop(t, newReplicaSet(0, 1), newTestPod("a"))
	l.removePod("a")
	l.syncWeb()
	if told := l.told(); len(told) > 0 {
		t.Errorf("told %v, want nothing", told)
	}
	l.syncWeb()
	l.expectRequests("delete pods a")
	l.expectMetric("controller_manager_pods_deleted_total", 0)
	l.settle()
	l.expectRequests("update replicasets/status web")
}

func TestARefusedDelete(t *testing.T) {
	l := newLoop(t, newReplicaSet(0, 1), newTestPod("a"))
	l.trouble = failing("delete pods", forbidden("a"))
	l.failWeb("hands off")
	message := `pods "a" is forbidden: hands off`
	if diff := cmp.Diff([]string{"Warning FailedDelete Error deleting: " + message}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	want := []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedDelete", Message: "unable to delete pods: " + message,
		LastTransitionTime: metav1.NewTime(testNow),
	}}
	if diff := cmp.Diff(want, l.status().Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	l.trouble = nil
	l.catchUpReplicaSets()
	l.syncWeb()
	l.expectActive(0)
	l.settle()
	if conditions := l.status().Conditions; len(conditions) > 0 {
		t.Errorf("conditions = %v after the delete worked, want none", conditions)
	}
}

func TestADeleteWithoutAnAnswerIsRepeatedForTheSamePod(t *testing.T) {
	for name, acts := range map[string]bool{"it had taken effect": true, "it had not": false} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 2), newTestPod("a", unready), newTestPod("b"))
			l.trouble = func(r request) trouble {
				if r.verb == "delete" {
					return trouble{err: timeout(), acts: acts}
				}
				return trouble{}
			}
			l.failWeb("request did not complete")
			l.trouble = nil

			// The other pod would go first by now.
			b, _, _ := l.podIndexer.GetByKey("default/b")
			worse := b.(*corev1.Pod).DeepCopy()
			worse.Status.Phase = corev1.PodPending
			if err := l.podIndexer.Update(worse); err != nil {
				t.Fatal(err)
			}
			l.catchUpReplicaSets()
			l.syncWeb()
			if diff := cmp.Diff([]string{"delete pods a", "delete pods a"}, l.made("delete")); diff != "" {
				t.Errorf("deletes (-want +got):\n%s", diff)
			}
			l.settle()
			l.expectActive(1)
			if conditions := l.status().Conditions; len(conditions) > 0 {
				t.Errorf("conditions = %v at the end, want none", conditions)
			}
		})
	}
}

func TestAnUnansweredDeleteIsNotRepeatedForPodsThatHaveGoneAlready(t *testing.T) {
	l := newLoop(t, newReplicaSet(0, 3), newTestPod("a"), newTestPod("b"), newTestPod("c"))
	l.trouble = func(r request) trouble {
		if r.verb == "delete" && r.name == "c" {
			return trouble{err: timeout()}
		}
		return trouble{}
	}
	l.failWeb("request did not complete")
	l.trouble = nil
	// The cache still shows three; two are wanted now, and one is left.
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 2 })
	l.catchUpReplicaSets()
	l.syncWeb()
	l.expectActive(1)
	l.settle()
	l.expectActive(2)
}

func TestNothingIsRepeatedForAReplicaSetThatIsBeingDeleted(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 2), newTestPod("a", unready), newTestPod("b"))
	l.trouble = failing("delete pods", timeout())
	l.failWeb("request did not complete")
	l.trouble = nil
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { rs.DeletionTimestamp = &metav1.Time{Time: testNow} })
	l.catchUpReplicaSets()
	l.requests = nil
	l.syncWeb()
	l.expectRequests()
}

func TestNothingButStatusForAReplicaSetThatIsBeingDeleted(t *testing.T) {
	leaving := func(rs *appsv1.ReplicaSet) { rs.DeletionTimestamp = &metav1.Time{Time: testNow} }
	tests := map[string]*loop{
		"pods are missing":   newLoop(t, newReplicaSet(3, 0, leaving), newTestPod("a")),
		"pods are too many":  newLoop(t, newReplicaSet(0, 0, leaving), newTestPod("a")),
		"a pod has no owner": newLoop(t, newReplicaSet(1, 0, leaving), newTestPod("a"), newTestPod("b", orphaned)),
		"a pod should go":    newLoop(t, newReplicaSet(1, 0, leaving), newTestPod("a"), newTestPod("b", relabeled)),
	}
	for name, l := range tests {
		t.Run(name, func(t *testing.T) {
			l.t = t
			l.syncWeb()
			l.expectRequests("update replicasets/status web")
			if got := l.status().Replicas; got != 1 {
				t.Errorf("status.replicas = %d, want 1", got)
			}
		})
	}
}

func TestDeletesGoOnAfterPodsThatChanged(t *testing.T) {
	l := newLoop(t, newReplicaSet(0, 2), newTestPod("a"), newTestPod("b"))
	l.editPod("a", unready)
	l.syncWeb()
	l.expectActive(1)
	if got := strings.Join(l.told(), ","); got != "Normal SuccessfulDelete Deleted pod: b" {
		t.Errorf("told %q", got)
	}
}

func TestAgesOfChosenPodsAreMeasured(t *testing.T) {
	old := func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(testNow.Add(-3 * time.Hour)) }
	dear := func(pod *corev1.Pod) { pod.Annotations = map[string]string{corev1.PodDeletionCost: "5"} }
	tests := map[string]struct {
		rs    *appsv1.ReplicaSet
		pods  []metav1.Object
		count uint64
		sum   float64
	}{
		"a chosen pod three times as old as the youngest": {newReplicaSet(1, 2), []metav1.Object{newTestPod("a", old), newTestPod("b", dear)}, 1, 3},
		"pods that are not ready are no measure":          {newReplicaSet(1, 2), []metav1.Object{newTestPod("a", unready), newTestPod("b")}, 0, 0},
		"without a choice nothing is measured":            {newReplicaSet(0, 1), []metav1.Object{newTestPod("a")}, 0, 0},
		"without an age there is no ratio": {newReplicaSet(1, 2), []metav1.Object{newTestPod("a"),
			newTestPod("b", func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(testNow) })}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, append(test.pods, test.rs)...)
			l.syncWeb()
			count, sum := l.histogram("replicaset_controller_sorting_deletion_age_ratio")
			if count != test.count || sum != test.sum {
				t.Errorf("measured %d pods with a sum of %v, want %d and %v", count, sum, test.count, test.sum)
			}
		})
	}
}
