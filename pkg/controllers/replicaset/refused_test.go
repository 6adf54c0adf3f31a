package replicaset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
