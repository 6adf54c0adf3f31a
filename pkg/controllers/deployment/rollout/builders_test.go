package rollout

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// now is the time of every decision in these tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// deployment returns a rolling Deployment "web" of n replicas and image v2, with the
// API server's defaults, changed by the edits.
func deployment(n int32, edits ...func(*appsv1.Deployment)) *appsv1.Deployment {
	seconds, limit := int32(600), int32(10)
	quarter := intstr.FromString("25%")
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "d1", Generation: 7, Annotations: map[string]string{}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &n,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: template("v2"),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &quarter, MaxUnavailable: &quarter},
			},
			ProgressDeadlineSeconds: &seconds,
			RevisionHistoryLimit:    &limit,
		},
	}
	for _, edit := range edits {
		edit(d)
	}
	return d
}

func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

func bounds(surge, unavailable any) func(*appsv1.Deployment) {
	post := func(value any) *intstr.IntOrString {
		var p intstr.IntOrString
		switch v := value.(type) {
		case nil:
			return nil
		case int:
			p = intstr.FromInt32(int32(v))
		case string:
			p = intstr.FromString(v)
		}
		return &p
	}
	return func(d *appsv1.Deployment) {
		d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: post(surge), MaxUnavailable: post(unavailable)}
	}
}

func recreate(d *appsv1.Deployment) {
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
}

func paused(d *appsv1.Deployment) { d.Spec.Paused = true }

func image(name string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Template = template(name) }
}

func deleted(d *appsv1.Deployment) {
	gone := metav1.NewTime(now)
	d.DeletionTimestamp = &gone
}

func annotated(key, value string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Annotations[key] = value }
}

// replicaSet returns the ReplicaSet of an image ("v1", "v2", …): revision and age follow
// from the version, size Pods are wanted of it and available ones reported.
func replicaSet(image string, size, available int32, edits ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	version, _ := strconv.Atoi(image[1:])
	name := "web-" + image
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: types.UID(name), Generation: 1,
			CreationTimestamp: metav1.NewTime(now.Add(time.Duration(version-100) * time.Hour)),
			Annotations:       map[string]string{RevisionAnnotation: strconv.Itoa(version)},
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "web", UID: "d1"}, Kind)},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &size, Template: template(image)},
		Status: appsv1.ReplicaSetStatus{
			Replicas: size, ReadyReplicas: available, AvailableReplicas: available, ObservedGeneration: 1,
		},
	}
	rs.Spec.Template.Labels[hashLabel] = image
	for _, edit := range edits {
		edit(rs)
	}
	return rs
}

// sizedFor marks a ReplicaSet as sized for a Deployment of so many, with so many at most.
func sizedFor(desired, most any) func(*appsv1.ReplicaSet) {
	return func(rs *appsv1.ReplicaSet) {
		rs.Annotations[DesiredReplicasAnnotation] = fmt.Sprint(desired)
		rs.Annotations[MaxReplicasAnnotation] = fmt.Sprint(most)
	}
}

func rsAnnotated(key, value string) func(*appsv1.ReplicaSet) {
	return func(rs *appsv1.ReplicaSet) { rs.Annotations[key] = value }
}

func rsDeleted(rs *appsv1.ReplicaSet) {
	gone := metav1.NewTime(now)
	rs.DeletionTimestamp = &gone
}

func rsPods(actual int32) func(*appsv1.ReplicaSet) {
	return func(rs *appsv1.ReplicaSet) { rs.Status.Replicas = actual }
}

func snapshot(d *appsv1.Deployment, sets ...*appsv1.ReplicaSet) Snapshot {
	return Snapshot{Deployment: d, ReplicaSets: sets, Now: now}
}

// decide fails the test if there is no decision.
func decide(t *testing.T, s Snapshot) Plan {
	t.Helper()
	plan, err := Decide(s)
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	return plan
}

// sizes tells what a plan resizes: "web-v1 8→5". A create counts from nothing.
func sizes(plan Plan) []string {
	var steps []string
	if plan.Create != nil {
		steps = append(steps, fmt.Sprintf("create %d", size(plan.Create.ReplicaSet)))
	}
	for _, change := range plan.Change {
		if from, to, resizes := change.Resizes(); resizes {
			steps = append(steps, fmt.Sprintf("%s %d→%d", change.Observed.Name, from, to))
		}
	}
	return steps
}
