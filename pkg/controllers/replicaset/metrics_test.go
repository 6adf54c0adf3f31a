package replicaset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// expectMetric checks the value of a counter.
func (l *loop) expectMetric(name string, want float64) {
	l.t.Helper()
	families, err := l.registry.Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			metric := family.GetMetric()[0]
			if got := metric.GetCounter().GetValue() + metric.GetGauge().GetValue(); got != want {
				l.t.Errorf("%s = %v, want %v", name, got, want)
			}
			return
		}
	}
	l.t.Errorf("there is no metric %s", name)
}

// histogram returns how many values a histogram has, and their sum.
func (l *loop) histogram(name string) (count uint64, sum float64) {
	l.t.Helper()
	families, err := l.registry.Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			histogram := family.GetMetric()[0].GetHistogram()
			return histogram.GetSampleCount(), histogram.GetSampleSum()
		}
	}
	l.t.Errorf("there is no metric %s", name)
	return 0, 0
}

func TestMetricsAreThoseThatOthersKnow(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := newMetrics(registry, &failures{}); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, family := range families {
		text := family.GetName()
		for _, label := range family.GetMetric()[0].GetLabel() {
			text += " " + label.GetName() + "=" + label.GetValue()
		}
		got = append(got, text)
	}
	want := []string{
		"controller_manager_pod_failure_backoffs_total controller=replicaset",
		"controller_manager_pods_created_total controller=replicaset",
		"controller_manager_pods_deleted_total controller=replicaset",
		"controller_manager_replicasets_with_failing_pods controller=replicaset",
		"controller_manager_stale_cache_waits_total controller=replicaset",
		"controller_manager_sync_failures_total controller=replicaset",
		"controller_manager_sync_panics_total controller=replicaset",
		"replicaset_controller_sorting_deletion_age_ratio",
		"replicaset_controller_stale_sync_skips_total group= resource=pods",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestMetricsThatExistAlready(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := newMetrics(registry, &failures{}); err != nil {
		t.Fatal(err)
	}
	if _, err := newMetrics(registry, &failures{}); err == nil {
		t.Error("registering the metrics a second time works, want an error")
	}
}
