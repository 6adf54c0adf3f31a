package e2e

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"controller-manager/localcluster"
)

// hold is a finalizer that keeps a deleted Pod Terminating until a test lets it go.
const hold = "e2e.controller-manager/hold"

// edit is a change of a Deployment.
type edit func(*appsv1.Deployment)

// newDeployment is a Deployment with one container, image web:1.
func newDeployment(name string, size int32, edits ...edit) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &size,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	for _, change := range edits {
		change(d)
	}
	return d
}

func image(image string) edit {
	return func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = image }
}

func replicas(n int32) edit {
	return func(d *appsv1.Deployment) { d.Spec.Replicas = &n }
}

// rolling sets the strategy RollingUpdate with bounds such as "1" or "25%".
func rolling(surge, unavailable string) edit {
	return func(d *appsv1.Deployment) {
		maxSurge, maxUnavailable := intstr.Parse(surge), intstr.Parse(unavailable)
		d.Spec.Strategy = appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &maxSurge, MaxUnavailable: &maxUnavailable},
		}
	}
}

func recreate() edit {
	return func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
}

// mode tells KWOK how to treat the Pods; see package localcluster. Empty: as usual.
func mode(mode string) edit {
	return func(d *appsv1.Deployment) {
		if mode == "" {
			delete(d.Spec.Template.Labels, localcluster.ModeLabel)
		} else {
			d.Spec.Template.Labels[localcluster.ModeLabel] = mode
		}
	}
}

// held puts the finalizer hold on the Pods.
func held() edit {
	return func(d *appsv1.Deployment) { d.Spec.Template.Finalizers = []string{hold} }
}

func deadline(seconds int32) edit {
	return func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = &seconds }
}

func minReady(seconds int32) edit {
	return func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = seconds }
}

func historyLimit(n int32) edit {
	return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &n }
}

func annotated(key, value string) edit {
	return func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, key, value) }
}

// revisionAnnotation is where a ReplicaSet and a Deployment carry their revision.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// revisionOf is 0 for an object without a revision.
func revisionOf(object metav1.Object) int {
	revision, err := strconv.Atoi(object.GetAnnotations()[revisionAnnotation])
	if err != nil {
		return 0
	}
	return revision
}

// incomplete says what a Deployment lacks to be complete at a generation, if anything:
// all Pods are of the present template and available, and no other is left.
func incomplete(d *appsv1.Deployment, generation int64) string {
	status := d.Status
	wanted := *d.Spec.Replicas
	switch {
	case status.ObservedGeneration < generation:
		return fmt.Sprintf("generation %d is not observed, only %d", generation, status.ObservedGeneration)
	case status.UpdatedReplicas != wanted || status.Replicas != wanted || status.AvailableReplicas != wanted:
		return fmt.Sprintf("of %d wanted: %d updated, %d replicas, %d available", wanted, status.UpdatedReplicas, status.Replicas, status.AvailableReplicas)
	}
	return wrongCondition(d, appsv1.DeploymentProgressing, "True NewReplicaSetAvailable")
}

// conditionOf is a condition in the form "True Reason", with its message if it is
// asked for; empty if there is none.
func conditionOf(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) (short, message string) {
	for _, condition := range d.Status.Conditions {
		if condition.Type == kind {
			return fmt.Sprintf("%s %s", condition.Status, condition.Reason), condition.Message
		}
	}
	return "", ""
}

// wrongCondition says how a condition differs from the wanted "Status Reason", if it does.
func wrongCondition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType, want string) string {
	if got, _ := conditionOf(d, kind); got != want {
		return fmt.Sprintf("condition %s is %q, want %q", kind, got, want)
	}
	return ""
}
