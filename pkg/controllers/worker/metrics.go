package worker

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are those that every loop has. The queue has metrics of its own, as client-go
// defines them.
type Metrics struct {
	Failures prometheus.Counter // of syncs, see Pool.Failed
	Panics   prometheus.Counter // of syncs, see Pool.Panicked
	Waits    prometheus.Counter // for the caches to show the loop's own writes
}

// NewMetrics registers the metrics of a loop; the label "controller" has its name.
func NewMetrics(registry prometheus.Registerer, loop string) (Metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{"controller": loop}})
	}
	m := Metrics{
		Failures: counter("controller_manager_sync_failures_total",
			"Syncs that failed and are tried again, not counting those in which another writer came first."),
		Panics: counter("controller_manager_sync_panics_total",
			"Syncs that ended in a panic; the object was retried and the others went on."),
		Waits: counter("controller_manager_stale_cache_waits_total",
			"Syncs put off because the caches had not yet seen the loop's own last writes."),
	}
	return m, errors.Join(registry.Register(m.Failures), registry.Register(m.Panics), registry.Register(m.Waits))
}
