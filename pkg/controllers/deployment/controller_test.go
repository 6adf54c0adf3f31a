package deployment

import (
	"context"
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

// newName is the name of the ReplicaSet that the Deployment of these tests gets.
const newName = "web-7c4b7768d9"

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

func TestASyncWaitsForTheLoopsOwnWrites(t *testing.T) {
	l := newLoop(t, deployment())
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	before := len(l.writes())
	if lookAgain, err := l.run(); !errors.Is(err, worker.ErrPutOff) || lookAgain != catchUp || len(l.writes()) != before {
		t.Errorf("with caches behind: looks again after %s, %v, wrote %v", lookAgain, err, l.writes()[before:])
	}
	sets, _ := l.server.AppsV1().ReplicaSets("shop").List(t.Context(), metav1.ListOptions{})
	rs := sets.Items[0]
	rs.ResourceVersion = "1001"
	l.show(&rs)
	if lookAgain, _ := l.run(); lookAgain != catchUp {
		t.Error("did not wait for the Deployment's own status")
	}
	d := l.written()
	d.ResourceVersion = "1002"
	l.show(d)
	if lookAgain, err := l.run(); err != nil || lookAgain == catchUp || len(l.writes()) != before {
		t.Errorf("with caches up to date: looks again after %s, %v, wrote %v", lookAgain, err, l.writes()[before:])
	}
}

func TestSizesAreWrittenAsMergePatches(t *testing.T) {
	l := newLoop(t, deployment(func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 7 }), replicaSet("v2", 1), replicaSet("v1", 3))
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`patch replicasets {"metadata":{"resourceVersion":"200","uid":"uid-v2"},"spec":{"minReadySeconds":7}}`,
		`patch replicasets {"metadata":{"annotations":{"deployment.kubernetes.io/desired-replicas":"3","deployment.kubernetes.io/max-replicas":"3"},"resourceVersion":"200","uid":"uid-v1"},"spec":{"replicas":1}}`,
		"update deployments/status",
	}
	if diff := cmp.Diff(want, l.writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Normal ScalingReplicaSet Scaled down replica set web-v1 from 3 to 1"}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
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
		"the name is that of another template":       {answer: taken, there: called("v1"), collisions: 1},
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
	l.show(reported) // the report wakes the Deployment
	if _, err := l.run(); !errors.Is(err, worker.ErrPutOff) || tries() != 1 {
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

func TestReplicaSetsOfOtherNamespacesAreNobodysBusiness(t *testing.T) {
	intruder := replicaSet("v2", 3, func(rs *appsv1.ReplicaSet) { rs.Namespace = "evil" })
	l := newLoop(t, deployment(), intruder)
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create replicasets", "update deployments/status"}, l.writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestAPlanStopsAtTheFirstFailureAndTheStatusIsWrittenAllTheSame(t *testing.T) {
	l := newLoop(t, deployment(), replicaSet("v1", 3), replicaSet("v2", 1))
	l.refuse("patch", "replicasets", apierrors.NewConflict(appsv1.Resource("replicasets"), "web-v1", errors.New("changed")))
	_, err := l.run()
	if !apierrors.IsConflict(err) {
		t.Errorf("error %v, want the conflict", err)
	}
	if got := l.writes(); got[len(got)-1] != "update deployments/status" || len(l.told()) != 0 {
		t.Errorf("writes %v", got)
	}
}

func TestOldReplicaSetsAreDeletedIfTheyAreStillTheSame(t *testing.T) {
	for name, refusal := range map[string]error{
		"and none is missed":                         nil,
		"one that is gone already is none the worse": apierrors.NewNotFound(appsv1.Resource("replicasets"), "web-v0"),
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, deployment(), replicaSet("v0", 0), replicaSet("v1", 0), replicaSet("v2", 3))
			if refusal != nil {
				l.refuse("delete", "replicasets", refusal)
			}
			if _, err := l.run(); err != nil {
				t.Fatal(err)
			}
			if want := "delete replicasets web-v0 if uid=uid-v0 version=200"; !strings.Contains(strings.Join(l.writes(), "\n"), want) {
				t.Errorf("writes %v, want %s", l.writes(), want)
			}
		})
	}
	l := newLoop(t, deployment(), replicaSet("v0", 0), replicaSet("v1", 0), replicaSet("v2", 3))
	l.refuse("delete", "replicasets", errors.New("no"))
	if _, err := l.run(); err == nil || !strings.Contains(err.Error(), "deleting ReplicaSet web-v0: no") {
		t.Errorf("error %v", err)
	}
}

func TestRollbackIsWrittenAndTold(t *testing.T) {
	l := newLoop(t, deployment(func(d *appsv1.Deployment) {
		d.Annotations = map[string]string{"deprecated.deployment.rollback.to": "1"}
	}), replicaSet("v1", 0), replicaSet("v2", 3))
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"update deployments"}, l.writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	d := l.written()
	if d.Spec.Template.Spec.Containers[0].Image != "v1" || len(d.Annotations) != 0 {
		t.Errorf("annotations %v, template %+v", d.Annotations, d.Spec.Template)
	}
	if diff := cmp.Diff([]string{`Normal DeploymentRollback Rolled back deployment "web" to revision 1`}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	l = newLoop(t, d, replicaSet("v1", 0))
	l.refuse("update", "deployments", errors.New("no"))
	d.Annotations = map[string]string{"deprecated.deployment.rollback.to": "9"}
	if _, err := l.run(); err == nil || len(l.told()) != 0 {
		t.Errorf("error %v, or an event of something that was not done", err)
	}
}

func TestRollbacksThatCannotBeDoneAreTold(t *testing.T) {
	tests := map[string]struct{ ask, want string }{
		"no last revision":   {"0", "Warning DeploymentRollbackRevisionNotFound Unable to find last revision."},
		"no such revision":   {"9", "Warning DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to."},
		"unchanged template": {"2", `Warning DeploymentRollbackTemplateUnchanged The rollback revision contains the same template as current deployment "web"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, deployment(func(d *appsv1.Deployment) {
				d.Annotations = map[string]string{"deprecated.deployment.rollback.to": test.ask}
			}), replicaSet("v2", 3))
			if _, err := l.run(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{test.want}, l.told()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplicaSetsAreAdoptedAndReleasedFirst(t *testing.T) {
	orphan := replicaSet("v1", 3, func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = nil })
	strayed := replicaSet("v2", 3, func(rs *appsv1.ReplicaSet) { rs.Labels = nil })
	l := newLoop(t, deployment(), orphan, strayed)
	lookAgain, err := l.run()
	if err != nil || lookAgain != catchUp {
		t.Errorf("looks again after %s, %v", lookAgain, err)
	}
	if got := strings.Join(l.writes(), "\n"); strings.Count(got, "patch replicasets") != 2 || len(l.writes()) != 2 {
		t.Errorf("writes\n%s", got)
	}
	if lookAgain, _ := l.run(); lookAgain != catchUp || len(l.writes()) != 2 {
		t.Error("did not wait for the caches to show the adoption")
	}
	l = newLoop(t, deployment(), orphan)
	l.refuse("patch", "replicasets", errors.New("no"))
	if _, err := l.run(); err == nil {
		t.Error("a failed adoption must be retried")
	}
}

func TestSelectorsThatSelectNothing(t *testing.T) {
	empty := func(d *appsv1.Deployment) { d.Spec.Selector = &metav1.LabelSelector{} }
	l := newLoop(t, deployment(empty), replicaSet("v1", 3))
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Warning SelectingAll This deployment is selecting all pods. A non-empty selector is required."}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	d := l.written()
	if diff := cmp.Diff([]string{"update deployments/status"}, l.writes()); diff != "" || d.Status.ObservedGeneration != 1 {
		t.Errorf("observed generation %d, writes (-want +got):\n%s", d.Status.ObservedGeneration, diff)
	}
	l = newLoop(t, d)
	if lookAgain, err := l.run(); err != nil || lookAgain != 0 || len(l.writes()) != 0 || len(l.told()) != 0 {
		t.Errorf("said again: %v", err)
	}
	l = newLoop(t, deployment(func(d *appsv1.Deployment) {
		d.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Around"}}
	}))
	if lookAgain, err := l.run(); err != nil || lookAgain != 0 || l.written().Status.ObservedGeneration != 1 || len(l.told()) != 0 {
		t.Errorf("a selector that cannot be parsed must stop there, not loop: %s, %v", lookAgain, err)
	}
}

func TestAStatusThatSaysTheSameIsNotWritten(t *testing.T) {
	l := newLoop(t, deployment(), replicaSet("v2", 3))
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	d := l.written()
	for name, d := range map[string]*appsv1.Deployment{"as it was written": d, "with terminatingReplicas dropped": withoutTerminating(d)} {
		t.Run(name, func(t *testing.T) {
			again := newLoop(t, d, replicaSet("v2", 3))
			again.noTerminatingCount.Store(d.Status.TerminatingReplicas == nil)
			if _, err := again.run(); err != nil || len(again.writes()) != 0 {
				t.Errorf("wrote %v, %v", again.writes(), err)
			}
		})
	}
}

func withoutTerminating(d *appsv1.Deployment) *appsv1.Deployment {
	d = d.DeepCopy()
	d.Status.TerminatingReplicas = nil
	return d
}

func TestAServerThatDropsTerminatingReplicasIsFoundOut(t *testing.T) {
	l := newLoop(t, deployment(func(d *appsv1.Deployment) { d.Spec.Paused = true }))
	l.server.PrependReactor("update", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		_, answer, err := l.answer(action)
		return true, withoutTerminating(answer.(*appsv1.Deployment)), err
	})
	if _, err := l.run(); err != nil || !l.noTerminatingCount.Load() {
		t.Errorf("not found out, %v", err)
	}
}

func TestStatusWritesThatFail(t *testing.T) {
	l := newLoop(t, deployment(), replicaSet("v2", 3))
	l.refuse("update", "deployments", apierrors.NewNotFound(appsv1.Resource("deployments"), "web"))
	if _, err := l.run(); err != nil {
		t.Errorf("a Deployment that is gone needs no status: %v", err)
	}
	l = newLoop(t, deployment(), replicaSet("v2", 3))
	l.refuse("update", "deployments", errors.New("no"))
	if _, err := l.run(); err == nil || !strings.Contains(err.Error(), "writing the status: no") {
		t.Errorf("error %v", err)
	}
}

func TestRecreateAsksTheCacheForOldPods(t *testing.T) {
	recreate := deployment(func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType })
	old := replicaSet("v1", 0)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "shop",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(old, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}}}
	for want, objects := range map[string][]runtime.Object{
		"update deployments/status": {recreate, old, pod},
		"create replicasets":        {recreate, old},
	} {
		l := newLoop(t, objects...)
		if _, err := l.run(); err != nil || l.writes()[0] != want {
			t.Errorf("wrote %v, %v; want first %s", l.writes(), err, want)
		}
	}
}

func TestNothingIsBegunWhenStopping(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := newLoop(t, deployment())
	if _, err := l.runWith(ctx); err == nil || len(l.writes()) != 0 {
		t.Errorf("wrote %v, %v", l.writes(), err)
	}
}

func TestADeploymentThatIsGoneOrBeyondHelpIsLeftAlone(t *testing.T) {
	l := newLoop(t)
	l.freshness.Wrote(keyOf(deployment()), "replicasets", "5")
	l.show(replicaSet("v9", 1))
	if lookAgain, err := l.run(); err != nil || lookAgain != 0 {
		t.Errorf("gone: %s, %v", lookAgain, err)
	}
	l = newLoop(t, deployment(func(d *appsv1.Deployment) { d.Spec.Strategy.Type = "Sideways" }))
	if lookAgain, err := l.run(); err != nil || lookAgain != 0 || l.written().Status.ObservedGeneration != 1 {
		t.Errorf("beyond help: %s, %v, wrote %v", lookAgain, err, l.writes())
	}
	l = newLoop(t, l.written())
	if _, err := l.run(); err != nil || len(l.writes()) != 0 {
		t.Errorf("said again: %v, wrote %v", err, l.writes())
	}
}
