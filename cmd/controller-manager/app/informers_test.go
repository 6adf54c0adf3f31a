package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/ownership"
)

func TestObjectsEnterTheCachesWithoutWhatTheLoopsDoNotRead(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "x", Labels: map[string]string{"a": "b"}}
	managed := meta
	managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	var seen []string
	look := func(object metav1.Object) { seen = append(seen, object.GetManagedFields()[0].Manager) }
	template := appsv1.DeploymentSpec{Paused: true}
	tests := map[string]struct{ in, want any }{
		"a Deployment": {&appsv1.Deployment{ObjectMeta: managed, Spec: template}, &appsv1.Deployment{ObjectMeta: meta, Spec: template}},
		"a ReplicaSet": {&appsv1.ReplicaSet{ObjectMeta: managed}, &appsv1.ReplicaSet{ObjectMeta: meta}},
		"a Pod": {
			&corev1.Pod{ObjectMeta: managed, Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "v"}}}},
			&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n"}},
		},
		"a note about an object that has gone": {cache.DeletedFinalStateUnknown{Key: "a/b"}, cache.DeletedFinalStateUnknown{Key: "a/b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, isObject := test.in.(metav1.Object)
			seen = nil
			got, err := trim(look)(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(seen, []string{"kubectl"}) != isObject {
				t.Errorf("looked at with the managers %q; want each object to be, as it came", seen)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("in the cache (-want +got):\n%s", diff)
			}
		})
	}
}

// unseen is for caches whose objects nobody looks at.
func unseen(metav1.Object) {}

func TestResyncPeriod(t *testing.T) {
	if got := resyncPeriod(0); got != 0 {
		t.Errorf("got %s for 0, want never", got)
	}
	spread := map[time.Duration]bool{}
	for range 100 {
		got := resyncPeriod(time.Hour)
		if got < time.Hour || got >= 2*time.Hour {
			t.Errorf("got %s, want from 1 h to 2 h", got)
		}
		spread[got] = true
	}
	if len(spread) < 50 {
		t.Errorf("got %d different values of 100, want them spread", len(spread))
	}
}

func TestCachesAreReadyWhenAllAreFilled(t *testing.T) {
	server := newAPIServer(t)
	server.pod = podNamed("x")
	server.pod.ResourceVersion, server.pod.Spec.Volumes = "1", []corev1.Volume{{Name: "v"}}
	clients := newClientsOf(t, server, openFence())
	caches, err := newCaches(clients.main, 0, unseen)
	if err != nil {
		t.Fatal(err)
	}
	err = caches.check()
	if err == nil || !strings.Contains(err.Error(), "deployments, replicasets, pods") {
		t.Errorf("before the start: got %v, want all three named", err)
	}
	logger, log := bufferedLogger(t)
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	caches.start(ctx)
	if err := caches.await(ctx); err != nil {
		t.Fatal(err)
	}
	if err := caches.check(); err != nil {
		t.Errorf("when filled: got %v", err)
	}
	for _, indexer := range []cache.Indexer{
		caches.factory.Apps().V1().ReplicaSets().Informer().GetIndexer(),
		caches.factory.Core().V1().Pods().Informer().GetIndexer(),
	} {
		ownership.Orphans[metav1.Object](indexer, "a") // panics without the index
	}
	pod, err := caches.factory.Core().V1().Pods().Lister().Pods("a").Get("x")
	if err != nil || len(pod.Spec.Volumes) > 0 {
		t.Errorf("got Pod %v and error %v, want it without volumes", pod, err)
	}
	stop()
	caches.stop()
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "Caches are filled") ||
		!strings.Contains(got, "deployments=0 replicasets=0 pods=1") {
		t.Errorf("got log %q, want one line with the counts", got)
	}
}

func TestWaitingForCachesEndsWhenToldTo(t *testing.T) {
	server := newAPIServer(t)
	server.refuse(func(r *http.Request) *metav1.Status {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden}
		}
		return nil
	})
	caches, err := newCaches(newClientsOf(t, server, openFence()).main, 0, unseen)
	if err != nil {
		t.Fatal(err)
	}
	logger, log := bufferedLogger(t)
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	defer caches.stop()
	defer stop()
	caches.start(ctx)
	awaiting, giveUp := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- caches.await(awaiting) }()
	await(t, "a line about the Pods", func() bool { return strings.Contains(log.String(), "Cannot watch") }, log)
	giveUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
}

func TestAResourceThatCannotBeWatchedIsSaidNowAndThen(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
	tests := map[string]struct {
		err   error
		lines int      // in a minute of failures every second
		words []string // of each
	}{
		"a missing permission, with what to do": {forbidden, 6, []string{"Cannot watch", `resource="pods"`, "no role", "deploy/rbac"}},
		"a connection that fails":               {errors.New("no route"), 6, []string{"no route"}},
		"a watch that has ended":                {io.EOF, 0, nil},
		"a watch that was cut":                  {io.ErrUnexpectedEOF, 6, []string{"unexpected EOF"}},
		"a version that the server has dropped": {apierrors.NewResourceExpired("too old"), 0, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				logger, log := bufferedLogger(t)
				ctx := klog.NewContext(t.Context(), logger)
				handle := watchErrorHandler("pods")
				for range 60 {
					handle(ctx, nil, test.err)
					<-time.After(time.Second)
				}
				if got := strings.Count(log.String(), "\n"); got != test.lines {
					t.Errorf("got %d lines, want %d:\n%s", got, test.lines, log.String())
				}
				for line := range strings.Lines(log.String()) {
					isOneLine(t, line, test.words...)
				}
			})
		})
	}
	t.Run("not when it is us who ended it", func(t *testing.T) {
		logger, log := bufferedLogger(t)
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
		stop()
		watchErrorHandler("pods")(ctx, nil, errors.New("no route"))
		if log.String() != "" {
			t.Errorf("got %q, want nothing", log.String())
		}
	})
}
