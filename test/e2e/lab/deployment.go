package lab

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"controller-manager/localcluster"
)

// Hold is a finalizer that keeps a deleted Pod Terminating until a test lets it go.
const Hold = "e2e.controller-manager/hold"

// Edit is a change of a Deployment.
type Edit func(*appsv1.Deployment)

// NewDeployment is a Deployment with one container, image web:1.
func NewDeployment(name string, size int32, edits ...Edit) *appsv1.Deployment {
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

// Image sets the image of the only container.
func Image(image string) Edit {
	return func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = image }
}

// Replicas sets the size.
func Replicas(n int32) Edit {
	return func(d *appsv1.Deployment) { d.Spec.Replicas = &n }
}

// Rolling sets the strategy RollingUpdate with bounds such as "1" or "25%".
func Rolling(surge, unavailable string) Edit {
	return func(d *appsv1.Deployment) {
		maxSurge, maxUnavailable := intstr.Parse(surge), intstr.Parse(unavailable)
		d.Spec.Strategy = appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &maxSurge, MaxUnavailable: &maxUnavailable},
		}
	}
}

// Recreate sets the strategy Recreate.
func Recreate() Edit {
	return func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
}

// Mode tells KWOK how to treat the Pods; see package localcluster. Empty: as usual.
func Mode(mode string) Edit {
	return func(d *appsv1.Deployment) {
		if mode == "" {
			delete(d.Spec.Template.Labels, localcluster.ModeLabel)
		} else {
			d.Spec.Template.Labels[localcluster.ModeLabel] = mode
		}
	}
}

// Held puts the finalizer hold on the Pods.
func Held() Edit {
	return func(d *appsv1.Deployment) { d.Spec.Template.Finalizers = []string{Hold} }
}

// Deadline sets progressDeadlineSeconds.
func Deadline(seconds int32) Edit {
	return func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = &seconds }
}

// MinReady sets minReadySeconds.
func MinReady(seconds int32) Edit {
	return func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = seconds }
}

// HistoryLimit sets revisionHistoryLimit.
func HistoryLimit(n int32) Edit {
	return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &n }
}

// Annotated sets an annotation of the Deployment.
func Annotated(key, value string) Edit {
	return func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, key, value) }
}

// RevisionAnnotation is where a ReplicaSet and a Deployment carry their revision.
const RevisionAnnotation = "deployment.kubernetes.io/revision"

// RevisionOf is 0 for an object without a revision.
func RevisionOf(object metav1.Object) int {
	revision, err := strconv.Atoi(object.GetAnnotations()[RevisionAnnotation])
	if err != nil {
		return 0
	}
	return revision
}

// Incomplete says what a Deployment lacks to be complete at a generation, if anything:
// all Pods are of the present template and available, and no other is left.
func Incomplete(d *appsv1.Deployment, generation int64) string {
	status := d.Status
	wanted := *d.Spec.Replicas
	switch {
	case status.ObservedGeneration < generation:
		return fmt.Sprintf("generation %d is not observed, only %d", generation, status.ObservedGeneration)
	case status.UpdatedReplicas != wanted || status.Replicas != wanted || status.AvailableReplicas != wanted:
		return fmt.Sprintf("of %d wanted: %d updated, %d replicas, %d available", wanted, status.UpdatedReplicas, status.Replicas, status.AvailableReplicas)
	}
	return WrongCondition(d, appsv1.DeploymentProgressing, "True NewReplicaSetAvailable")
}

// ConditionOf is a condition in the form "True Reason", with its message if it is
// asked for; empty if there is none.
func ConditionOf(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) (short, message string) {
	for _, condition := range d.Status.Conditions {
		if condition.Type == kind {
			return fmt.Sprintf("%s %s", condition.Status, condition.Reason), condition.Message
		}
	}
	return "", ""
}

// WrongCondition says how a condition differs from the wanted "Status Reason", if it does.
func WrongCondition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType, want string) string {
	if got, _ := ConditionOf(d, kind); got != want {
		return fmt.Sprintf("condition %s is %q, want %q", kind, got, want)
	}
	return ""
}

// Memory lets the container ask for memory, and limits it to that.
func Memory(request string) Edit {
	return func(d *appsv1.Deployment) {
		amount := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)}
		d.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amount, Limits: amount}
	}
}
