package replicaset

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/replicaset/scale"
	"controller-manager/pkg/controllers/worker"
)

// metrics holds every metric of this loop.
type metrics struct {
	worker.Metrics
	stale   *prometheus.CounterVec // by the group and resource whose cache is behind
	created prometheus.Counter
	deleted prometheus.Counter
	pauses  prometheus.Counter
	ages    prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer, failing *failures) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{"controller": "replicaset"}})
	}
	common, err := worker.NewMetrics(registry, "replicaset")
	m := &metrics{
		Metrics: common,
		// Name and labels are those of kube-controller-manager's metric.
		stale: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "replicaset_controller_stale_sync_skips_total",
			Help: "Syncs put off because of the cache of a resource, by that resource; both may be behind in one sync.",
		}, []string{"group", "resource"}),
		created: counter("controller_manager_pods_created_total", "Pods created."),
		deleted: counter("controller_manager_pods_deleted_total", "Pods deleted."),
		pauses: counter("controller_manager_pod_failure_backoffs_total",
			"Times that the creation of Pods of a ReplicaSet was put off because they fail as soon as they are made."),
		// Name and buckets are those of kube-controller-manager's metric.
		ages: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "replicaset_controller_sorting_deletion_age_ratio",
			Help: "Age of a ready Pod chosen for deletion, divided by the age of the youngest ready Pod it was chosen from. " +
				"The deletion order keeps it below 2, other things being equal.",
			Buckets: prometheus.ExponentialBuckets(0.25, 2, 6),
		}),
	}
	// From the start, since Prometheus sees no increase in a series that begins with its first count.
	m.stale.WithLabelValues(corev1.GroupName, podResource)
	m.stale.WithLabelValues(appsv1.GroupName, replicaSetResource)
	lasting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "controller_manager_replicasets_with_failing_pods",
		Help:        "ReplicaSets whose Pods fail as soon as they are made, and so did those that were made in their place.",
		ConstLabels: prometheus.Labels{"controller": "replicaset"},
	}, failing.lasting)
	failures := []error{err}
	for _, collector := range []prometheus.Collector{m.stale, m.created, m.deleted, m.pauses, lasting, m.ages} {
		failures = append(failures, registry.Register(collector))
	}
	return m, errors.Join(failures...)
}

// observeChoice notes how old the chosen Pods are, if there was a choice.
func (m *metrics) observeChoice(s scale.Snapshot, plan scale.Plan) {
	if !s.ChoosesVictims() {
		return
	}
	var youngest time.Time
	for _, pod := range s.Active {
		if pods.IsReady(pod) && pod.CreationTimestamp.After(youngest) {
			youngest = pod.CreationTimestamp.Time
		}
	}
	least := s.Now.Sub(youngest)
	if least <= 0 {
		return // made this very second, or by a clock that is ahead: there is no ratio
	}
	for _, pod := range plan.Delete {
		if pods.IsReady(pod) {
			m.ages.Observe(float64(s.Now.Sub(pod.CreationTimestamp.Time)) / float64(least))
		}
	}
}
