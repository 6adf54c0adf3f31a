package deploy

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// work makes the loops do everything for which they ask the API server in another way: a namespace,
// and one Deployment in it.
type work struct {
	t         *testing.T
	client    kubernetes.Interface
	namespace string
}

const web = "web" // the Deployment

func (l *lab) newWork(t *testing.T, namespace string) *work {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := l.client.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.awaitAccount(t, namespace)
	return &work{t, l.client, namespace}
}

// all goes through everything.
func (w *work) all() {
	w.t.Helper()
	w.create("web:1")
	w.complete("web:1", 1)
	w.edit(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:2" })
	w.complete("web:2", 1) // none is kept, so the old ReplicaSet is deleted
	w.edit(func(d *appsv1.Deployment) {
		d.Spec.RevisionHistoryLimit = new(int32(1))
		d.Spec.Template.Spec.Containers[0].Image = "web:3"
	})
	w.complete("web:3", 2)
	w.edit(func(d *appsv1.Deployment) { d.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: "0"} })
	w.complete("web:2", 2)
	w.adopt()
	w.refuse()
}

func (w *work) create(image string) {
	w.t.Helper()
	labels := map[string]string{"app": web}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: web},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(int32(2)),
			RevisionHistoryLimit: new(int32(0)),
			Selector:             &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: web, Image: image}}},
			},
		},
	}
	if _, err := w.client.AppsV1().Deployments(w.namespace).Create(w.t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *work) edit(change func(*appsv1.Deployment)) {
	w.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		deployment, err := w.client.AppsV1().Deployments(w.namespace).Get(w.t.Context(), web, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(deployment)
		_, err = w.client.AppsV1().Deployments(w.namespace).Update(w.t.Context(), deployment, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// complete waits until the Deployment has rolled an image out and kept so many ReplicaSets.
func (w *work) complete(image string, replicaSets int) {
	w.t.Helper()
	await(w.t, image+" to be rolled out in "+w.namespace, func(ctx context.Context) string {
		d, err := w.client.AppsV1().Deployments(w.namespace).Get(ctx, web, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		kept, err := w.client.AppsV1().ReplicaSets(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		s, wanted := d.Status, *d.Spec.Replicas
		if d.Spec.Template.Spec.Containers[0].Image != image || s.ObservedGeneration != d.Generation ||
			s.UpdatedReplicas != wanted || s.AvailableReplicas != wanted || s.Replicas != wanted || len(kept.Items) != replicaSets {
			return fmt.Sprintf("%d ReplicaSets, %+v", len(kept.Items), s)
		}
		return ""
	})
}

// adopt makes the Deployment anew, which finds the ReplicaSets of the old one, and a Pod that
// looks like those of a ReplicaSet.
func (w *work) adopt() {
	w.t.Helper()
	orphan := metav1.DeletePropagationOrphan
	if err := w.client.AppsV1().Deployments(w.namespace).Delete(w.t.Context(), web, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		w.t.Fatal(err)
	}
	await(w.t, "the Deployment to go", func(ctx context.Context) string {
		_, err := w.client.AppsV1().Deployments(w.namespace).Get(ctx, web, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprint("it is there: ", err)
	})
	w.create("web:2")
	w.complete("web:2", 1)
	adopted := w.replicaSet()
	stray := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stray", Labels: adopted.Spec.Template.Labels},
		Spec:       adopted.Spec.Template.Spec,
	}
	if _, err := w.client.CoreV1().Pods(w.namespace).Create(w.t.Context(), stray, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	await(w.t, "a Pod to be adopted, and to be one too many", func(ctx context.Context) string {
		pods, err := w.client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, pod := range pods.Items {
			if metav1.GetControllerOf(&pod) == nil {
				return pod.Name + " has no controller"
			}
		}
		if len(pods.Items) != 2 {
			return fmt.Sprint(len(pods.Items), " Pods")
		}
		return ""
	})
}

func (w *work) replicaSet() appsv1.ReplicaSet {
	w.t.Helper()
	list, err := w.client.AppsV1().ReplicaSets(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		w.t.Fatalf("%d ReplicaSets, %v", len(list.Items), err)
	}
	return list.Items[0]
}

// refuse lets a quota refuse a Pod so often that the event about it is counted.
func (w *work) refuse() {
	w.t.Helper()
	full := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: full}}
	if _, err := w.client.CoreV1().ResourceQuotas(w.namespace).Create(w.t.Context(), quota, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	await(w.t, "the quota to be used up", func(ctx context.Context) string {
		got, err := w.client.CoreV1().ResourceQuotas(w.namespace).Get(ctx, quota.Name, metav1.GetOptions{})
		if err == nil && got.Status.Used.Pods().Value() != 2 {
			err = fmt.Errorf("%v are used", got.Status.Used)
		}
		return problem(err)
	})
	w.edit(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) })
	await(w.t, "an event to be counted", func(ctx context.Context) string {
		events, err := w.client.CoreV1().Events(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, event := range events.Items {
			if event.Reason == "FailedCreate" && event.Count > 1 {
				return ""
			}
		}
		return fmt.Sprintf("none of %d happened twice", len(events.Items))
	})
}
