package deployment

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"controller-manager/pkg/controllers/worker"
)

// newName is the name of the ReplicaSet that the Deployment of these tests gets.
const newName = "web-7c4b7768d9"

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
			again.terminatingCount.Wrote(new(int32), d.Status.TerminatingReplicas)
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
	if _, err := l.run(); err != nil || l.terminatingCount.ToCompare(nil, new(int32)) != nil {
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
