package localcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	// create returns when the log tells of it.
	create := func(name string) {
		t.Helper()
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(patient(t), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the audit log", func(context.Context) error {
			for _, entry := range auditorWrites(t, l, 0) {
				if entry.Name == name {
					return nil
				}
			}
			return fmt.Errorf("nothing about %s", name)
		})
	}
	create("before")
	mark, err := l.AuditLog.Mark()
	if err != nil {
		t.Fatal(err)
	}
	create("after")

	want := []AuditEntry{{
		User: "auditor", UserAgent: "auditor/1", Verb: "create", Resource: "configmaps",
		Namespace: metav1.NamespaceDefault, Name: "after", Code: 201,
		RequestURI: "/api/v1/namespaces/default/configmaps",
	}}
	ignoreTimes := cmpopts.IgnoreFields(AuditEntry{}, "Received", "Completed")
	if diff := cmp.Diff(want, auditorWrites(t, l, mark), ignoreTimes); diff != "" {
		t.Errorf("writes since the mark differ (-want +got):\n%s", diff)
	}
}

func auditorWrites(t *testing.T, l lab, mark AuditMark) []AuditEntry {
	t.Helper()
	entries, err := l.AuditLog.Since(mark)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(e AuditEntry) bool { return e.User != "auditor" || !e.IsWrite() })
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
