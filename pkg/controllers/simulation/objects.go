package simulation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The images that the users of a world run. What a Pod does follows from its image.
const (
	goodImages  = 4 // v1 to v4 become ready
	slowImage   = "slow"
	brokenImage = "broken"
	crashImage  = "crash"
)

// image returns the image of a number.
func image(n int) string {
	switch n %= goodImages + 3; n {
	case goodImages:
		return slowImage
	case goodImages + 1:
		return brokenImage
	case goodImages + 2:
		return crashImage
	}
	return fmt.Sprintf("v%d", n+1)
}

// template returns the Pod template of an image.
func template(app, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

// newDeployment returns a Deployment with the API server's defaults.
func newDeployment(app, image string, replicas int32) *appsv1.Deployment {
	deadline, history := int32(600), int32(10)
	quarter := intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: namespace, Labels: map[string]string{"app": app}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			Template: template(app, image),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &quarter, MaxUnavailable: &quarter},
			},
			ProgressDeadlineSeconds: &deadline,
			RevisionHistoryLimit:    &history,
		},
	}
}
