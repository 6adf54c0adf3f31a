package replicaset

import (
	"context"
	"errors"
	"fmt"
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

// quotaOf refuses Pods beyond a number, in the words of the API server.
func (l *loop) quotaOf(most int) func(request) trouble {
	return func(r request) trouble {
		if r.verb == "create" && len(l.existing(pods.IsActive)) >= most {
			return trouble{err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, r.name, errors.New("exceeded quota: few"))}
		}
		return trouble{}
	}
}

// namespaceGoing is the answer to a create in a namespace that is being deleted.
func namespaceGoing(name string) error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name, errors.New("the namespace is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

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

	// The cache reads on, but not yet as far as the last of the three.
	all := l.existing(pods.IsActive)
	slices.SortFunc(all, func(a, b *corev1.Pod) int { return strings.Compare(a.ResourceVersion, b.ResourceVersion) })
	if err := l.podIndexer.Add(all[0]); err != nil {
		t.Fatal(err)
	}
	l.syncWeb()
	l.expectRequests("update replicasets/status web") // it counts, but does not create
	if got := l.status().Replicas; got != 1 {
		t.Errorf("status.replicas = %d while one pod is seen, want 1", got)
	}

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

func TestARefusedCreateCostsOneRequest(t *testing.T) {
	l := newLoop(t, newReplicaSet(1000, 0))
	l.trouble = l.quotaOf(0)
	err := l.failWeb("exceeded quota")
	if !apierrors.IsForbidden(err) {
		t.Errorf("error %v does not wrap the API server's", err)
	}
	creates := l.made("create")
	if len(creates) != 1 {
		t.Fatalf("%d creates were sent, want 1", len(creates))
	}
	name := strings.TrimPrefix(creates[0], "create pods ")
	message := fmt.Sprintf("pods %q is forbidden: exceeded quota: few", name)
	if diff := cmp.Diff([]string{"Warning FailedCreate Error creating: " + message}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	want := []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message,
		LastTransitionTime: metav1.NewTime(testNow),
	}}
	if diff := cmp.Diff(want, l.status().Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}

	// The next attempts are told in the same words, so that the events are one, and are
	// no reason to write the status again.
	l.requests = nil
	for range 3 {
		l.catchUp()
		l.failWeb("exceeded quota")
	}
	l.expectRequests(creates[0], creates[0], creates[0])
	event := "Warning FailedCreate Error creating: " + message
	if diff := cmp.Diff([]string{event, event, event}, l.told()); diff != "" {
		t.Errorf("events of further attempts (-want +got):\n%s", diff)
	}

	// With room, the condition goes.
	l.trouble = nil
	l.catchUp()
	l.settle()
	l.expectActive(1000)
	if conditions := l.status().Conditions; len(conditions) > 0 {
		t.Errorf("conditions = %v after creates worked, want none", conditions)
	}
}

func TestAQuotaIsFilledWithAHandfulOfRefusals(t *testing.T) {
	l := newLoop(t, newReplicaSet(1000, 0))
	l.trouble = l.quotaOf(5)
	l.failWeb("exceeded quota")
	if got := len(l.made("create")); got > 5+6 {
		t.Errorf("%d creates were sent for a quota of 5, want at most 11", got)
	}
	l.expectActive(5)
	refused := 0
	for _, event := range l.told() {
		if strings.HasPrefix(event, "Warning") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d events tell of refusals, want 1", refused)
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

func TestNamespaceThatIsBeingDeleted(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	l.trouble = func(r request) trouble {
		if r.verb == "create" {
			return trouble{err: namespaceGoing(r.name)}
		}
		return trouble{}
	}
	err := l.failWeb("being terminated")
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("error %v does not tell the worker that no retry helps", err)
	}
	if told := l.told(); len(told) > 0 {
		t.Errorf("told %v, want nothing", told)
	}
	l.catchUp()
	l.requests = nil
	l.syncWeb()
	l.expectRequests()
	if got := len(l.status().Conditions); got != 1 {
		t.Errorf("%d conditions, want the one from the first attempt", got)
	}

	// Another ReplicaSet of that name, in another namespace of that name, is not held back.
	l.trouble = nil
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { rs.UID = "another" })
	l.catchUp()
	l.syncWeb()
	l.expectActive(3)
}

func TestNoRequestIsBegunOnceStopping(t *testing.T) {
	tests := map[string]*loop{
		"creates":    newLoop(t, newReplicaSet(3, 0)),
		"deletes":    newLoop(t, newReplicaSet(0, 1), newTestPod("a")),
		"adoption":   newLoop(t, newReplicaSet(1, 0), newTestPod("a", orphaned)),
		"the status": newLoop(t, newReplicaSet(1, 0), newTestPod("a")),
	}
	for name, l := range tests {
		t.Run(name, func(t *testing.T) {
			l.t = t
			if _, err := l.sync(canceled(t), web); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("sync: %v", err)
			}
			l.expectRequests()
			if told := l.told(); len(told) > 0 {
				t.Errorf("told %v, want nothing", told)
			}
		})
	}
}

func TestARequestThatIsUnderWayFinishes(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 0))
	ctx, cancel := context.WithCancel(t.Context())
	l.trouble = func(request) trouble {
		cancel()
		return trouble{}
	}
	if _, err := l.sync(ctx, web); err != nil {
		t.Errorf("sync: %v", err)
	}
	l.expectActive(1)
	if got := l.made(); len(got) != 1 {
		t.Errorf("requests = %v, want the one that was under way", got)
	}
}

func TestNoSecondNameIsTriedOnceStopping(t *testing.T) {
	for name, verb := range map[string]string{"during the create": "create", "during the lookup": "list"} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 0))
			ctx, cancel := context.WithCancel(t.Context())
			l.trouble = func(r request) trouble {
				if r.verb == verb {
					cancel()
				}
				if r.verb == "create" {
					return trouble{err: apierrors.NewAlreadyExists(schema.GroupResource{Resource: "pods"}, r.name)}
				}
				return trouble{}
			}
			l.waitOut()
			_, _ = l.sync(ctx, web)
			want := map[string]int{"create": 1, "list": 2}[verb]
			if got := l.made(); len(got) != want {
				t.Errorf("requests = %v, want %d", got, want)
			}
			if told := l.told(); len(told) > 0 {
				t.Errorf("told %v, want nothing", told)
			}
		})
	}
}
