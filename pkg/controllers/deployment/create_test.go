package deployment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"controller-manager/pkg/controllers/worker"
)

func TestANewReplicaSetIsMadeAndTold(t *testing.T) {
	l := newLoop(t, deployment())
	lookAgain, err := l.run()
	if err != nil || lookAgain != 601*time.Second {
		t.Errorf("looks again after %s, %v", lookAgain, err)
	}
	if diff := cmp.Diff([]string{"create replicasets", "update deployments/status"}, l.writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Normal ScalingReplicaSet Scaled up replica set " + newName + " from 0 to 3"}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	d := l.written()
	if d.Annotations["deployment.kubernetes.io/revision"] != "1" || d.Status.ObservedGeneration != 1 || d.Status.UnavailableReplicas != 3 {
		t.Errorf("annotations %v, status %+v", d.Annotations, d.Status)
	}
}

func TestAnEmptyReplicaSetIsMadeWithoutAWord(t *testing.T) {
	l := newLoop(t, deployment(func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 }))
	if _, err := l.run(); err != nil || len(l.told()) != 0 {
		t.Errorf("events, or %v", err)
	}
}

func TestWhatStandsInTheWayOfACreate(t *testing.T) {
	taken := apierrors.NewAlreadyExists(appsv1.Resource("replicasets"), newName)
	ending := apierrors.NewForbidden(appsv1.Resource("replicasets"), newName, errors.New("ending"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	called := func(image string, edits ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
		rs := replicaSet(image, 3, edits...)
		rs.Name = newName
		return rs
	}
	strangers := func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = nil }
	tests := map[string]struct {
		answer     error
		there      *appsv1.ReplicaSet // on the server, not in the cache
		fails      bool
		collisions int32
		progress   string
		events     []string
	}{
		"it was made before and the answer was lost": {answer: taken, there: called("v2"), progress: "NewReplicaSetAvailable"},
		"the name is that of another template":       {answer: taken, there: called("v1")}, // decided on once the cache shows it
		"the name is somebody else's":                {answer: taken, there: called("v2", strangers), collisions: 1},
		"it was there and is gone again":             {answer: taken, fails: true},
		"the namespace is being deleted":             {answer: ending, fails: true},
		"it is refused": {answer: errors.New("quota says no"), fails: true, progress: "ReplicaSetCreateError",
			events: []string{`Warning ReplicaSetCreateError Failed to create new replica set "` + newName + `": quota says no`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, deployment())
			if test.there != nil {
				if err := l.server.Tracker().Add(test.there); err != nil {
					t.Fatal(err)
				}
			}
			l.refuse("create", "replicasets", test.answer)
			if _, err := l.run(); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.events, l.told()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			status := l.written().Status
			if status.CollisionCount != nil && *status.CollisionCount != test.collisions || status.CollisionCount == nil && test.collisions > 0 {
				t.Errorf("collisionCount %v, want %d", status.CollisionCount, test.collisions)
			}
			if got := progressReason(status); got != test.progress {
				t.Errorf("Progressing is %q, want %q", got, test.progress)
			}
		})
	}
}

func progressReason(status appsv1.DeploymentStatus) string {
	for _, c := range status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c.Reason
		}
	}
	return ""
}

func TestARefusedCreateIsHeldBackUntilItsTimeOrAChange(t *testing.T) {
	l := newLoop(t, deployment())
	l.refuse("create", "replicasets", errors.New("quota says no, request 1"))
	if _, err := l.run(); err == nil {
		t.Fatal("not refused")
	}
	tries := func() int { return strings.Count(strings.Join(l.writes(), "\n"), "create replicasets") }
	reported := l.written()
	l.show(reported)                                                                                                     // the report wakes the Deployment
	if lookAgain, err := l.run(); err != worker.ErrPutOff || lookAgain == 0 || lookAgain > time.Second || tries() != 1 { //nolint:errorlint // joined with anything, it counts as a failure
		t.Errorf("tried %d times, %v", tries(), err)
	}
	if got := progressReason(l.written().Status); got != "ReplicaSetCreateError" {
		t.Errorf("Progressing is %q", got)
	}
	fixed := l.written()
	fixed.Generation++
	l.show(fixed)
	if _, err := l.run(); err == nil || tries() != 2 {
		t.Errorf("a change must be tried at once: tried %d times, %v", tries(), err)
	}
	l.clock.(*clocktesting.FakePassiveClock).SetTime(now.Add(time.Hour))
	l.show(l.written())
	if _, err := l.run(); err == nil || tries() < 3 {
		t.Errorf("when its time has come it must be tried: tried %d times, %v", tries(), err)
	}
}

func TestAReplicaSetThatTheServerChangesIsReportedNotTrippedOver(t *testing.T) {
	l := newLoop(t, deployment())
	l.server.PrependReactor("create", "replicasets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		handled, answer, err := l.answer(action)
		answer.(*appsv1.ReplicaSet).Spec.Template.Spec.HostNetwork = true
		return handled, answer, err
	})
	if _, err := l.run(); err != nil || progressReason(l.written().Status) != "NewReplicaSetCreated" {
		t.Errorf("Progressing is %q, %v", progressReason(l.written().Status), err)
	}
}

func TestACollisionEndsTheStep(t *testing.T) {
	l := newLoop(t, deployment(), replicaSet("v1", 3))
	l.refuse("create", "replicasets", apierrors.NewAlreadyExists(appsv1.Resource("replicasets"), "web"))
	l.server.PrependReactor("get", "replicasets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, replicaSet("v3", 1), nil
	})
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create replicasets", "update deployments/status"}, l.writes()); diff != "" {
		t.Errorf("no old Pod may go for a ReplicaSet that was not made (-want +got):\n%s", diff)
	}
}

func TestACreateThatWorksEndsTheHoldingBack(t *testing.T) {
	l := newLoop(t, deployment())
	l.refuse("create", "replicasets", errors.New("quota says no"))
	if _, err := l.run(); err == nil {
		t.Fatal("not refused")
	}
	l.server.ReactionChain = l.server.ReactionChain[1:]
	l.clock.(*clocktesting.FakePassiveClock).SetTime(now.Add(time.Hour))
	l.show(l.written())
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	if left := l.creates.Left(deployment(), now); left != 0 {
		t.Errorf("the next create is held back for %s", left)
	}
}

func TestARaisedRevisionIsReportedInTheSameStep(t *testing.T) {
	l := newLoop(t, deployment(func(d *appsv1.Deployment) {
		d.Annotations = map[string]string{"deployment.kubernetes.io/revision": "2"}
	}), replicaSet("v2", 3), replicaSet("v3", 0))
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	if got := l.written().Annotations["deployment.kubernetes.io/revision"]; got != "4" {
		t.Errorf("the Deployment carries revision %q, want the 4 that its ReplicaSet has just got", got)
	}
}
