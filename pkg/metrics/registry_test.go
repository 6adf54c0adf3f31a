package metrics

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"
)

// use makes client-go report each of its numbers once.
func use(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	address := url.URL{Host: "api:6443", Path: "/api/v1/namespaces/team-a/pods/web-1"}
	metrics.RequestResult.Increment(ctx, "200", "GET", "api:6443")
	metrics.RequestRetry.IncrementRetry(ctx, "429", "POST", "api:6443")
	metrics.RequestLatency.Observe(ctx, "GET", address, 200*time.Millisecond)
	metrics.RateLimiterLatency.Observe(ctx, "GET", address, time.Second)
	metrics.RequestSize.Observe(ctx, "POST", "api:6443", 100)
	metrics.ResponseSize.Observe(ctx, "POST", "api:6443", 2000)

	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "deployment"})
	queue.Add("team-a/web")
	key, _ := queue.Get()
	queue.AddRateLimited(key)
	queue.Done(key)
	queue.ShutDown()

	_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:          "controller-manager",
		Lock:          &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// series returns "name{label,label}" of each metric with one of the prefixes.
func series(t *testing.T, registry *prometheus.Registry, prefixes ...string) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(family.GetName(), p) }) {
			continue
		}
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		slices.Sort(labels)
		found = append(found, fmt.Sprintf("%s{%s}", family.GetName(), strings.Join(labels, ",")))
	}
	slices.Sort(found)
	return found
}

func TestClientGoReportsUnderTheNamesAndLabelsDashboardsKnow(t *testing.T) {
	registry := New(Build{})
	use(t)
	want := []string{
		"leader_election_master_status{name}",
		"rest_client_rate_limiter_duration_seconds{host,verb}",
		"rest_client_request_duration_seconds{host,verb}",
		"rest_client_request_retries_total{code,host,verb}",
		"rest_client_request_size_bytes{host,verb}",
		"rest_client_requests_total{code,host,method}",
		"rest_client_response_size_bytes{host,verb}",
		"workqueue_adds_total{name}",
		"workqueue_depth{name}",
		"workqueue_longest_running_processor_seconds{name}",
		"workqueue_queue_duration_seconds{name}",
		"workqueue_retries_total{name}",
		"workqueue_unfinished_work_seconds{name}",
		"workqueue_work_duration_seconds{name}",
	}
	if diff := cmp.Diff(want, series(t, registry, "leader_", "rest_", "workqueue_")); diff != "" {
		t.Errorf("metrics of client-go (-want +got):\n%s", diff)
	}
}

func TestOfARequestsAddressOnlyTheHostIsKept(t *testing.T) {
	use(t)
	families, err := New(Build{}).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "host" && label.GetValue() != "api:6443" {
					t.Errorf("%s has host %q, want api:6443", family.GetName(), label.GetValue())
				}
			}
		}
	}
}

func TestLeaderMetricsFollowTheLease(t *testing.T) {
	receiver := newLeader()
	registry := prometheus.NewRegistry()
	registry.MustRegister(receiver.collectors()...)

	metric := receiver.NewLeaderMetric()
	metric.On("controller-manager")
	metric.SlowpathExercised("controller-manager")
	want := "leader_election_master_status 1, leader_election_slowpath_total 1"
	if got := values(t, registry); got != want {
		t.Errorf("as leader: got %s, want %s", got, want)
	}
	metric.Off("controller-manager")
	want = "leader_election_master_status 0, leader_election_slowpath_total 1"
	if got := values(t, registry); got != want {
		t.Errorf("as standby: got %s, want %s", got, want)
	}
}

func values(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		metric := family.GetMetric()[0]
		found = append(found, fmt.Sprintf("%s %v", family.GetName(),
			metric.GetGauge().GetValue()+metric.GetCounter().GetValue()))
	}
	return strings.Join(found, ", ")
}

func TestEachRegistryOfAProcessSeesClientGo(t *testing.T) {
	first, second := New(Build{}), New(Build{})
	use(t)
	for name, registry := range map[string]*prometheus.Registry{"first": first, "second": second} {
		if len(series(t, registry, "rest_client_requests_total")) == 0 {
			t.Errorf("the %s registry has no rest_client_requests_total", name)
		}
	}
}

func TestBucketsAreThoseOfTheBuiltIn(t *testing.T) {
	registry := New(Build{})
	use(t)
	want := map[string][]float64{
		"rest_client_request_duration_seconds": {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60},
		"rest_client_request_size_bytes": {
			64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216,
		},
		"workqueue_work_duration_seconds": {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10},
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]float64{}
	for _, family := range families {
		if _, asked := want[family.GetName()]; !asked {
			continue
		}
		var bounds []float64
		for _, bucket := range family.GetMetric()[0].GetHistogram().GetBucket() {
			bounds = append(bounds, bucket.GetUpperBound())
		}
		got[family.GetName()] = bounds
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(sameWithinRounding)); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
}

func sameWithinRounding(a, b float64) bool { return a/b > 0.999999 && a/b < 1.000001 }

func TestTheHandlerServesTheProcessTheRuntimeAndTheBuild(t *testing.T) {
	server := httptest.NewServer(Handler(
		New(Build{Version: "v1.2.3", Commit: "abc", GoVersion: "go1.26.0"}), log.New(io.Discard, "", 0)))
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`controller_manager_build_info{commit="abc",go_version="go1.26.0",version="v1.2.3"} 1`,
		"go_goroutines ",
		"process_resident_memory_bytes ",
	} {
		if !strings.Contains(string(body), "\n"+line) {
			t.Errorf("no line that starts with %q in:\n%.2000s", line, body)
		}
	}
}
