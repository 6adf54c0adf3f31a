package deployment

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"controller-manager/pkg/controllers/ownership"
)

// now is the time of every sync in these tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// loop is a Controller whose caches hold what a test puts there and whose API server
// answers as the test says. No informer runs.
type loop struct {
	*Controller
	t       *testing.T
	server  *fake.Clientset
	events  *record.FakeRecorder
	caches  map[string]cache.Store // by the Go type of what they hold
	version int                    // the resourceVersion of the server's last answer
}

func newLoop(t *testing.T, objects ...runtime.Object) *loop {
	t.Helper()
	server := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(server, 0)
	for _, informer := range []cache.SharedIndexInformer{factory.Apps().V1().ReplicaSets().Informer(), factory.Core().V1().Pods().Informer()} {
		if err := informer.AddIndexers(ownership.Indexers()); err != nil {
			t.Fatal(err)
		}
	}
	events := record.NewFakeRecorder(100)
	controller, err := New(Config{
		Client: server, Events: events, Informers: factory,
		Clock: clocktesting.NewFakePassiveClock(now), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{Controller: controller, t: t, server: server, events: events, version: 1000}
	l.caches = map[string]cache.Store{
		"*v1.Deployment": factory.Apps().V1().Deployments().Informer().GetStore(),
		"*v1.ReplicaSet": factory.Apps().V1().ReplicaSets().Informer().GetStore(),
		"*v1.Pod":        factory.Core().V1().Pods().Informer().GetStore(),
	}
	for _, object := range objects {
		l.show(object)
	}
	for _, verb := range []string{"create", "update", "patch"} {
		server.PrependReactor(verb, "*", l.answer)
	}
	return l
}

// show puts an object into the cache that it belongs to.
func (l *loop) show(object runtime.Object) {
	l.t.Helper()
	store := l.caches[fmt.Sprintf("%T", object)]
	if err := store.Add(object); err != nil {
		l.t.Fatal(err)
	}
}

// answer lets the fake server carry out a write and gives the result a newer version.
func (l *loop) answer(action clienttesting.Action) (bool, runtime.Object, error) {
	_, object, err := clienttesting.ObjectReaction(l.server.Tracker())(action)
	if err == nil {
		l.version++
		object.(metav1.Object).SetResourceVersion(strconv.Itoa(l.version))
	}
	return true, object, err
}

// refuse makes the server answer a kind of write with an error.
func (l *loop) refuse(verb, resource string, err error) {
	l.server.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

// run syncs the Deployment "web" once.
func (l *loop) run() (time.Duration, error) {
	return l.runWith(context.Background())
}

func (l *loop) runWith(ctx context.Context) (time.Duration, error) {
	return l.sync(ctx, keyOf(deployment()))
}

// writes tells what has been asked of the server besides reads.
func (l *loop) writes() []string {
	var writes []string
	for _, action := range l.server.Actions() {
		line := action.GetVerb() + " " + action.GetResource().Resource
		if action.GetSubresource() != "" {
			line += "/" + action.GetSubresource()
		}
		switch a := action.(type) {
		case clienttesting.PatchAction:
			line += " " + string(a.GetPatch())
		case clienttesting.DeleteActionImpl:
			p := a.DeleteOptions.Preconditions
			line += fmt.Sprintf(" %s if uid=%s version=%s", a.Name, *p.UID, *p.ResourceVersion)
		}
		if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			writes = append(writes, line)
		}
	}
	return writes
}

// told returns the events that have been recorded.
func (l *loop) told() []string {
	var told []string
	for len(l.events.Events) > 0 {
		told = append(told, strings.TrimSpace(<-l.events.Events))
	}
	return told
}

// written returns the Deployment as the server has it, in the version last answered.
func (l *loop) written() *appsv1.Deployment {
	l.t.Helper()
	d, err := l.server.AppsV1().Deployments("shop").Get(l.t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	d.ResourceVersion = strconv.Itoa(l.version)
	return d
}

func deployment(edits ...func(*appsv1.Deployment)) *appsv1.Deployment {
	replicas, seconds, limit := int32(3), int32(600), int32(1)
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "d1", Generation: 1, ResourceVersion: "100"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, ProgressDeadlineSeconds: &seconds, RevisionHistoryLimit: &limit,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
			Template: template("v2"),
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

// replicaSet returns the ReplicaSet "web-<image>" of the Deployment, of the given size and
// with as many available Pods.
func replicaSet(image string, size int32, edits ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + image, Namespace: "shop", UID: types.UID("uid-" + image), ResourceVersion: "200",
			Labels:          map[string]string{"app": "web"},
			Annotations:     map[string]string{"deployment.kubernetes.io/revision": image[1:]},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment(), appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec:   appsv1.ReplicaSetSpec{Replicas: &size, Template: template(image)},
		Status: appsv1.ReplicaSetStatus{Replicas: size, ReadyReplicas: size, AvailableReplicas: size},
	}
	for _, edit := range edits {
		edit(rs)
	}
	return rs
}
