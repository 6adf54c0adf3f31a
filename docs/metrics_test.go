package docs

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clientmetrics "k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"controller-manager/pkg/controllers/deployment"
	"controller-manager/pkg/controllers/replicaset"
	"controller-manager/pkg/controllers/takeover"
	"controller-manager/pkg/metrics"
)

// TestMetricsAreWrittenDown fails if the table in metrics.md is not what is registered. That a
// running program serves nothing beside it is for the end-to-end tests.
func TestMetricsAreWrittenDown(t *testing.T) {
	registry := everyMetric(t)
	registered := names(registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, family := range families {
		name := family.GetName()
		delete(registered, name)
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
			continue
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(labels)
		rows = append(rows, []string{code(name), strings.ToLower(family.GetType().String()), strings.Join(labels, ", "), family.GetHelp()})
	}
	for name := range registered {
		t.Errorf("%s has no value, and so cannot be seen; give it one in countOnce", name)
	}
	wantTable(t, "metrics.md", []string{"metric", "type", "labels", "meaning"}, rows)
}

// everyMetric is the registry of a process that leads, in which each metric has a value.
func everyMetric(t *testing.T) *prometheus.Registry {
	t.Helper()
	registry := metrics.New(metrics.Build{})
	client, events, wall := fake.NewClientset(), record.NewFakeRecorder(1), clock.RealClock{}
	factory := informers.NewSharedInformerFactory(client, 0)
	if _, err := deployment.New(deployment.Config{
		Client: client, Events: events, Informers: factory, Clock: wall, Metrics: registry,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := replicaset.New(replicaset.Config{
		Client: client, Events: events, Informers: factory, Clock: wall, Metrics: registry,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := metrics.LostEvents(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := takeover.New(takeover.Config{Deployments: true, ReplicaSets: true, Metrics: registry}); err != nil {
		t.Fatal(err)
	}
	countOnce(t)
	return registry
}

// countOnce makes client-go report what it reports only once something has happened. The
// queues have their values since they were made.
func countOnce(t *testing.T) {
	t.Helper()
	ctx, host := context.Background(), url.URL{Host: "api:6443"}
	clientmetrics.RequestResult.Increment(ctx, "200", "GET", host.Host)
	clientmetrics.RequestRetry.IncrementRetry(ctx, "429", "GET", host.Host)
	clientmetrics.RequestLatency.Observe(ctx, "GET", host, time.Second)
	clientmetrics.RateLimiterLatency.Observe(ctx, "GET", host, time.Second)
	clientmetrics.RequestSize.Observe(ctx, "POST", host.Host, 1)
	clientmetrics.ResponseSize.Observe(ctx, "POST", host.Host, 1)
	leadOnce(t)
}

// leadOnce renews a lease that this process holds already, which is what has to read it first.
func leadOnce(t *testing.T) {
	t.Helper()
	const me, name = "me", "controller-manager"
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To(me)},
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: name,
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: lease.ObjectMeta, Client: fake.NewClientset(lease).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: me},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { stop() },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	elector.Run(klog.NewContext(ctx, klog.New(nil)))
}

// names are those of all that is registered, with or without a value.
func names(registry *prometheus.Registry) map[string]bool {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		registry.Describe(descriptions)
	}()
	fqName := regexp.MustCompile(`fqName: "([^"]+)"`)
	names := map[string]bool{}
	for description := range descriptions {
		names[fqName.FindStringSubmatch(description.String())[1]] = true
	}
	return names
}
