package replicaset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/worker"
)

var testNow = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// web is the key of the ReplicaSet of nearly all tests.
var web = types.NamespacedName{Namespace: "default", Name: "web"}

// loop is a Controller with a server to work on. Its caches show what is on the server
// only when a test lets them catch up.
type loop struct {
	*Controller
	*server
	t        *testing.T
	events   *record.FakeRecorder
	clock    *clocktesting.FakePassiveClock
	registry *prometheus.Registry
	factory  informers.SharedInformerFactory
}

// newLoop returns a loop whose server and caches hold the given Pods and ReplicaSets.
func newLoop(t *testing.T, objects ...metav1.Object) *loop {
	t.Helper()
	l := &loop{
		server: newServer(),
		t:      t,
		events: record.NewFakeRecorder(5000),
		clock:  clocktesting.NewFakePassiveClock(testNow),
	}
	l.registry = prometheus.NewRegistry()
	for _, object := range objects {
		switch object := object.(type) {
		case *corev1.Pod:
			l.storePod(watch.Added, object)
		case *appsv1.ReplicaSet:
			l.storeReplicaSet(object)
		}
	}
	client := l.clientset()
	l.factory = informers.NewSharedInformerFactory(client, 0)
	for _, informer := range []cache.SharedIndexInformer{
		l.factory.Core().V1().Pods().Informer(),
		l.factory.Apps().V1().ReplicaSets().Informer(),
	} {
		if err := informer.AddIndexers(ownership.Indexers()); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	l.Controller, err = New(Config{Client: client, Events: l.events, Informers: l.factory, Clock: l.clock, Metrics: l.registry, PodFailureBackoff: true})
	if err != nil {
		t.Fatal(err)
	}
	l.catchUp()
	l.woken()
	return l
}

// catchUp brings the caches to what is on the server, and calls the handlers.
func (l *loop) catchUp() {
	l.catchUpReplicaSets()
	l.catchUpPods()
}

func (l *loop) catchUpPods() {
	l.mu.Lock()
	version := fmt.Sprint(l.version)
	current := map[string]*corev1.Pod{}
	for key, pod := range l.server.pods {
		current[key] = pods.Trim(pod.DeepCopy())
	}
	l.mu.Unlock()
	follow(l.t, l.podIndexer, l.podHandler(), current, version)
}

func (l *loop) catchUpReplicaSets() {
	l.mu.Lock()
	version := fmt.Sprint(l.version)
	current := map[string]*appsv1.ReplicaSet{}
	for key, rs := range l.server.replicaSets {
		current[key] = rs.DeepCopy()
	}
	l.mu.Unlock()
	follow(l.t, l.rsIndexer, l.replicaSetHandler(), current, version)
}

// follow changes a store to hold the given objects, with the events an informer would send.
func follow[T metav1.Object](t *testing.T, store cache.Indexer, handler cache.ResourceEventHandler, current map[string]T, version string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range store.ListKeys() {
		old, _, err := store.GetByKey(key)
		must(err)
		if object, stays := current[key]; !stays {
			must(store.Delete(old))
			handler.OnDelete(old)
		} else if old.(metav1.Object).GetResourceVersion() != object.GetResourceVersion() {
			must(store.Update(object))
			handler.OnUpdate(old, object)
		}
		delete(current, key)
	}
	for _, object := range current {
		must(store.Add(object))
		handler.OnAdd(object, false)
	}
	store.Bookmark(version)
}

// woken returns the keys that wait in the queue, sorted, and empties it.
func (l *loop) woken() []string {
	var keys []string
	for l.queue.Len() > 0 {
		key, _ := l.queue.Get()
		keys = append(keys, key.Name)
		l.queue.Done(key)
		l.queue.Forget(key)
	}
	slices.Sort(keys)
	return keys
}

// syncWeb syncs once and wants no error.
func (l *loop) syncWeb() (lookAgain time.Duration) {
	l.t.Helper()
	l.waitOut()
	lookAgain, err := l.sync(l.t.Context(), web)
	if err != nil && !errors.Is(err, worker.ErrPutOff) {
		l.t.Fatalf("sync: %v", err)
	}
	return lookAgain
}

// waitOut lets the time pass for which creates are held back.
func (l *loop) waitOut() {
	if rs, err := l.Controller.replicaSets.ReplicaSets(web.Namespace).Get(web.Name); err == nil {
		l.clock.SetTime(l.clock.Now().Add(l.refusals.Left(rs, l.clock.Now())))
	}
}

// failWeb syncs once and wants an error that says so.
func (l *loop) failWeb(want string) error {
	l.t.Helper()
	l.waitOut()
	_, err := l.sync(l.t.Context(), web)
	if err == nil || !strings.Contains(err.Error(), want) {
		l.t.Fatalf("sync: error %v, want one that says %q", err, want)
	}
	return err
}

// settle syncs and catches up until nothing is written any more, retrying failures.
func (l *loop) settle() {
	l.t.Helper()
	for range 30 {
		l.catchUp()
		before := len(l.made())
		l.waitOut()
		_, err := l.sync(l.t.Context(), web)
		if err == nil && len(l.made()) == before {
			return
		}
	}
	l.t.Fatalf("not settled after 30 syncs; requests: %v", l.made())
}

// made returns the requests so far that start with the prefix.
func (l *loop) made(prefix ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var made []string
	for _, request := range l.requests {
		if strings.HasPrefix(request, strings.Join(prefix, " ")) {
			made = append(made, request)
		}
	}
	return made
}

// expectRequests checks the requests made since the last call of it.
func (l *loop) expectRequests(want ...string) {
	l.t.Helper()
	l.mu.Lock()
	got := l.requests
	l.requests = nil
	l.mu.Unlock()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		l.t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// told returns the events since the last call, sorted.
func (l *loop) told() []string {
	var told []string
	for len(l.events.Events) > 0 {
		told = append(told, <-l.events.Events)
	}
	slices.Sort(told)
	return told
}

// existing returns the Pods on the server that pass the filter.
func (l *loop) existing(filter func(*corev1.Pod) bool) []*corev1.Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*corev1.Pod
	for _, pod := range l.server.pods {
		if filter(pod) {
			found = append(found, pod.DeepCopy())
		}
	}
	return found
}

func (l *loop) expectActive(want int) {
	l.t.Helper()
	if got := len(l.existing(pods.IsActive)); got != want {
		l.t.Errorf("%d active pods are on the server, want %d", got, want)
	}
}

// status returns the ReplicaSet's status on the server.
func (l *loop) status() appsv1.ReplicaSetStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.server.replicaSets[web.String()].Status.DeepCopy()
}

// failing answers the requests that start with the prefix with the error, without acting.
func failing(prefix string, err error) func(request) trouble {
	return func(r request) trouble {
		if strings.HasPrefix(r.String(), prefix) {
			return trouble{err: err}
		}
		return trouble{}
	}
}

// canceled returns a context that has ended.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
