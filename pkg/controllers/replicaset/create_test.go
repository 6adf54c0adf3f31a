package replicaset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"controller-manager/pkg/controllers/pods"
)

func timeout() error { return apierrors.NewTimeoutError("request did not complete", 0) }

func TestCreatesWhatIsMissing(t *testing.T) {
	rs := newReplicaSet(3, 1, func(rs *appsv1.ReplicaSet) {
		rs.Spec.Template.Annotations = map[string]string{"note": "kept"}
		rs.Spec.Template.Finalizers = []string{"lab.example/hold"}
	})
	l := newLoop(t, rs, newTestPod("there"))
	if lookAgain := l.syncWeb(); lookAgain != catchUp {
		t.Errorf("looks again after %v, want %v", lookAgain, catchUp)
	}

	made := l.existing(func(pod *corev1.Pod) bool { return pod.Name != "there" })
	yes := true
	for _, pod := range made {
		if !strings.HasPrefix(pod.Name, "web-") || len(pod.Name) != len("web-12345") {
			t.Errorf("name = %q, want web- and five characters", pod.Name)
		}
		want := metav1.ObjectMeta{
			Namespace: "default", GenerateName: "web-", Labels: rs.Spec.Template.Labels,
			Annotations: rs.Spec.Template.Annotations, Finalizers: rs.Spec.Template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		}
		ignored := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "Name", "UID", "ResourceVersion", "CreationTimestamp")
		if diff := cmp.Diff(want, pod.ObjectMeta, ignored); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(rs.Spec.Template.Spec, pod.Spec); diff != "" {
			t.Errorf("spec (-want +got):\n%s", diff)
		}
	}
	if len(made) != 2 {
		t.Fatalf("%d pods were made, want 2", len(made))
	}
	want := []string{
		"Normal SuccessfulCreate Created pod: " + made[0].Name,
		"Normal SuccessfulCreate Created pod: " + made[1].Name,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	l.expectMetric("controller_manager_pods_created_total", 2)
}

func TestWaitsForItsOwnCreates(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	l.syncWeb()
	l.expectActive(3)
	l.made()
	l.requests = nil

	// Nothing of it is in the cache yet.
	if lookAgain := l.syncWeb(); lookAgain != catchUp {
		t.Errorf("looks again after %v while it waits, want %v", lookAgain, catchUp)
	}
	l.expectRequests()
	l.expectMetric("controller_manager_stale_cache_waits_total", 1)
	l.expectMetric("replicaset_controller_stale_sync_skips_total", 1)

	// The cache reads on, but not yet as far as the last of the three.
	all := l.existing(pods.IsActive)
	slices.SortFunc(all, func(a, b *corev1.Pod) int { return strings.Compare(a.ResourceVersion, b.ResourceVersion) })
	if err := l.podIndexer.Add(all[0]); err != nil {
		t.Fatal(err)
	}
	l.syncWeb()
	l.expectRequests() // it does not create, and says nothing of what it knows to be incomplete

	// It has seen all, and each of them has woken the ReplicaSet.
	l.catchUp()
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by the new pods (-want +got):\n%s", diff)
	}
	if lookAgain := l.syncWeb(); lookAgain != 0 {
		t.Errorf("looks again after %v with nothing to wait for", lookAgain)
	}
	l.settle()
	l.expectActive(3)
	if got := l.status().Replicas; got != 3 {
		t.Errorf("status.replicas = %d, want 3", got)
	}
}

func TestLostAnswersMakeNoPodTwice(t *testing.T) {
	tests := map[string]struct {
		acts     bool
		err      error
		catchUp  bool // whether the cache shows what happened before the next sync
		requests []string
	}{
		"the pod was made, and the cache does not show it": {acts: true, err: timeout(),
			requests: []string{"create pods N", "create pods N", "list pods N"}},
		"the pod was made, and the cache shows it": {acts: true, err: timeout(), catchUp: true,
			requests: []string{"create pods N"}},
		"the pod was not made": {err: timeout(),
			requests: []string{"create pods N", "create pods N"}},
		"the connection broke after the pod was made": {acts: true, err: errors.New("connection reset by peer"),
			requests: []string{"create pods N", "create pods N", "list pods N"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 0))
			l.trouble = func(r request) trouble {
				if r.verb == "create" {
					return trouble{err: test.err, acts: test.acts}
				}
				return trouble{}
			}
			l.failWeb(test.err.Error())
			l.trouble = nil
			l.catchUpReplicaSets()
			if test.catchUp {
				l.catchUp()
			}
			l.syncWeb()
			var got []string
			for _, request := range l.made() {
				if strings.Contains(request, "pods") {
					got = append(got, request)
				}
			}
			created := strings.TrimPrefix(got[0], "create pods ")
			for i := range got {
				got[i] = strings.Replace(got[i], created, "N", 1)
			}
			if diff := cmp.Diff(test.requests, got); diff != "" {
				t.Errorf("requests for pods (-want +got):\n%s", diff)
			}
			l.expectActive(1)
			l.settle()
			l.expectActive(1)
			if conditions := l.status().Conditions; len(conditions) > 0 {
				t.Errorf("conditions = %v at the end, want none", conditions)
			}
		})
	}
}

func TestLostAnswersAmongMany(t *testing.T) {
	l := newLoop(t, newReplicaSet(40, 0))
	n := 0
	l.trouble = func(r request) trouble {
		if r.verb != "create" {
			return trouble{}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if n++; n%7 == 0 {
			return trouble{err: timeout(), acts: n%2 == 0}
		}
		return trouble{}
	}
	l.settle()
	l.expectActive(40)
	if deletes := l.made("delete"); len(deletes) > 0 {
		t.Errorf("%d pods had to be deleted, want none made too many", len(deletes))
	}
}

func TestANameThatIsTaken(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	first := ""
	l.trouble = func(r request) trouble {
		if r.verb == "create" && first == "" {
			first = r.name
			l.mu.Lock()
			l.storePod(watch.Added, newTestPod(first, orphaned, relabeled, unready))
			l.mu.Unlock()
		}
		return trouble{}
	}
	l.syncWeb()
	creates := l.made("create")
	if len(creates) != 2 || creates[0] == creates[1] {
		t.Errorf("creates = %v, want a second one under another name", creates)
	}
	for _, event := range l.told() {
		if strings.HasPrefix(event, "Warning") {
			t.Errorf("told %q, want no event for a name that is taken", event)
		}
	}
	l.settle()
	if got := len(l.existing(pods.IsActive)); got != 2 {
		t.Errorf("%d pods are there, want the other one's and ours", got)
	}
}

func TestNamesThatAreAllTaken(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	l.trouble = func(r request) trouble {
		if r.verb == "create" {
			return trouble{err: apierrors.NewAlreadyExists(schema.GroupResource{Resource: "pods"}, r.name)}
		}
		return trouble{}
	}
	l.failWeb("another pod's")
	if got := len(l.made("create")); got != nameAttempts {
		t.Errorf("%d names were tried, want %d", got, nameAttempts)
	}
	if told := l.told(); len(told) > 0 {
		t.Errorf("told %v, want nothing", told)
	}
	if open := l.inflight.known(newReplicaSet(0, 0)).names; len(open) > 0 {
		t.Errorf("names %v are remembered although they are another's", open)
	}
}

func TestALookupThatFailsIsRepeated(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	l.trouble = func(r request) trouble {
		return trouble{err: timeout(), acts: r.verb == "create"}
	}
	l.failWeb("request did not complete")
	l.trouble = failing("list pods", timeout())
	l.failWeb("looking up pod")
	l.trouble = nil
	l.syncWeb()
	l.expectActive(1)
}
