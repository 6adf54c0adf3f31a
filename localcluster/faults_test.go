package localcluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// testLoops makes a Deployment in both clusters. The replication controller is a
// sign that the built-in is at work where the Deployment stays as it is.
func testLoops(t *testing.T, ours, builtin lab) {
	labels := map[string]string{"app": "loops"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: newPod("", "").Spec}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "loops"},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}
	for _, l := range []lab{ours, builtin} {
		if _, err := l.client.AppsV1().Deployments(metav1.NamespaceDefault).Create(patient(t), deployment, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the built-in to roll out a Deployment", func(ctx context.Context) error {
		got, err := builtin.client.AppsV1().Deployments(metav1.NamespaceDefault).Get(ctx, "loops", metav1.GetOptions{})
		if err == nil && got.Status.AvailableReplicas != 1 {
			err = fmt.Errorf("%d available", got.Status.AvailableReplicas)
		}
		return err
	})

	one := int32(1)
	controller := &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "loops"},
		Spec:       corev1.ReplicationControllerSpec{Replicas: &one, Selector: map[string]string{"app": "other"}, Template: template.DeepCopy()},
	}
	controller.Spec.Template.Labels = controller.Spec.Selector
	if _, err := ours.client.CoreV1().ReplicationControllers(metav1.NamespaceDefault).Create(patient(t), controller, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other loops to work", func(ctx context.Context) error {
		got, err := ours.client.CoreV1().ReplicationControllers(metav1.NamespaceDefault).Get(ctx, "loops", metav1.GetOptions{})
		if err == nil && got.Status.ReadyReplicas != 1 {
			err = fmt.Errorf("%d ready", got.Status.ReadyReplicas)
		}
		return err
	})
	sets, err := ours.client.AppsV1().ReplicaSets(metav1.NamespaceDefault).List(patient(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(sets.Items) > 0 {
		t.Errorf("the Deployment loop runs although it should be off: it made %s", sets.Items[0].Name)
	}
}

func testRights(t *testing.T, l lab) {
	config, err := l.RESTConfig(OurUser)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Pods(metav1.NamespaceDefault).List(patient(t), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("listing pods: error is %v, want forbidden", err)
	}
}

func testAudit(t *testing.T, l lab) {
	config, err := l.RESTConfig("auditor", mastersGroup)
	if err != nil {
		t.Fatal(err)
	}
	config.UserAgent = "auditor/1"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	create := func(name string) {
		t.Helper()
		if _, err := maps.Create(patient(t), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("before")
	seen := func(name string) func(context.Context) error {
		return func(context.Context) error {
			entries, err := l.AuditLog.Since(0)
			for _, entry := range entries {
				if entry.User == "auditor" && entry.Name == name {
					return nil
				}
			}
			return errors.Join(fmt.Errorf("nothing about %s", name), err)
		}
	}
	eventually(t, "the audit log", seen("before"))
	mark, err := l.AuditLog.Mark()
	if err != nil {
		t.Fatal(err)
	}
	create("after")
	eventually(t, "the audit log", seen("after"))

	entries, err := l.AuditLog.Since(mark)
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	for _, entry := range entries {
		if entry.User != "auditor" || !entry.IsWrite() {
			continue
		}
		writes++
		if entry.Verb != "create" || entry.Resource != "configmaps" || entry.Namespace != metav1.NamespaceDefault ||
			entry.Name != "after" || entry.Code != 201 || entry.UserAgent != "auditor/1" || entry.Completed.Before(entry.Received) {
			t.Errorf("the entry is %+v", entry)
		}
	}
	if writes != 1 {
		t.Errorf("%d writes since the mark, want 1", writes)
	}
}

// answers is a probe: the API server reads from etcd.
func (l lab) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := l.client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err
}

// refuses is the opposite of answers.
func (l lab) refuses(ctx context.Context) error {
	if l.answers(ctx) == nil {
		return errors.New("it still answers")
	}
	return nil
}

func testFreeze(t *testing.T, l lab) {
	server := l.Component(APIServer)
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a frozen API server to be silent", l.refuses)
	if !server.Alive() {
		t.Error("the frozen API server counts as dead")
	}
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a thawed API server to answer", l.answers)
}

func testKillEtcd(t *testing.T, l lab) {
	etcd := l.Component(Etcd)
	if err := etcd.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an API server without etcd to be at a loss", l.refuses)
	if err := etcd.Restart(patient(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the API server to find etcd again", l.answers)
	if _, err := l.pod(patient(t), "plain"); err != nil {
		t.Errorf("what was stored before is gone: %v", err)
	}
}

func testStopScheduler(t *testing.T, l lab) {
	scheduler := l.Component(Scheduler)
	if err := scheduler.Stop(); err != nil {
		t.Fatal(err)
	}
	l.createPod(t, newPod("waiting", ""))
	if pod, err := l.pod(patient(t), "waiting"); err != nil || pod.Spec.NodeName != "" {
		t.Errorf("without a scheduler the pod is %v, error %v", pod, err)
	}
	if err := scheduler.Restart(patient(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod to be ready", l.podReady("waiting"))
}
