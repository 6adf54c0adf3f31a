package deployment

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func condition(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string) appsv1.DeploymentCondition {
	long := metav1.NewTime(now.Add(-time.Hour))
	return appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, LastUpdateTime: long, LastTransitionTime: long}
}

// settled reports all of 3 Pods as available, and a rollout in the given state.
func settled(progressing appsv1.DeploymentCondition) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Annotations = map[string]string{"deployment.kubernetes.io/revision": "2"}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{progressing, condition(appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable")}}
	}
}

func unavailable(n int32) func(*appsv1.ReplicaSet) {
	return func(rs *appsv1.ReplicaSet) { rs.Status.ReadyReplicas -= n; rs.Status.AvailableReplicas -= n }
}

func TestOneEventTellsThatAFinishedDeploymentIsDegraded(t *testing.T) {
	complete := condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable")
	l := newLoop(t, deployment(settled(complete)), replicaSet("v2", 3, unavailable(2)))
	refusal := errors.New("not now")
	l.refuse("update", "deployments", refusal)
	if _, err := l.run(); !errors.Is(err, refusal) || len(l.told()) > 0 {
		t.Errorf("what could not be reported is told, or %v", err)
	}
	l.server.ReactionChain = l.server.ReactionChain[1:]
	for range 2 { // the second time it has been reported
		if _, err := l.run(); err != nil {
			t.Fatal(err)
		}
		l.show(l.written())
	}
	if diff := cmp.Diff([]string{"Warning Degraded 2 of 3 pods are not available, although the rollout is complete"}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := progressReason(l.written().Status); got != "NewReplicaSetAvailable" {
		t.Errorf("Progressing is %s", got)
	}
}

func TestOneEventTellsThatTheDeadlineHasPassedAndWhy(t *testing.T) {
	updated := condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated")
	rs := replicaSet("v2", 3, unavailable(2))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-v2-a", Namespace: "shop", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	l := newLoop(t, deployment(settled(updated)), rs, pod)
	for range 2 {
		if _, err := l.run(); err != nil {
			t.Fatal(err)
		}
		l.show(l.written())
	}
	want := `ReplicaSet "web-v2" has timed out progressing. A new Pod runs and is not ready: see its readiness probe.`
	if diff := cmp.Diff([]string{"Warning ProgressDeadlineExceeded " + want}, l.told()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update deployments/status"}, l.writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestDeploymentsAreCountedByStateWhenAsked(t *testing.T) {
	l := newLoop(t)
	registry := prometheus.NewRegistry()
	if _, err := newMetrics(registry, l.deployments); err != nil {
		t.Fatal(err)
	}
	stuck := condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded")
	l.show(deployment(settled(stuck)))
	l.show(deployment(func(d *appsv1.Deployment) { d.Name = "new" }))
	l.show(deployment(func(d *appsv1.Deployment) { d.Name = "other" }))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "state" {
					got[family.GetName()+" "+label.GetValue()] = metric.GetGauge().GetValue()
				}
			}
		}
	}
	const name = "controller_manager_deployments "
	want := map[string]float64{
		name + "complete": 0, name + "degraded": 0, name + "deleting": 0, name + "paused": 0, name + "progressing": 2, name + "stuck": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
