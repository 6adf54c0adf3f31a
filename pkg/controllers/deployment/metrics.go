package deployment

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics holds every metric of this loop. The queue has metrics of its own, as client-go
// defines them.
type metrics struct {
	failures prometheus.Counter
	panics   prometheus.Counter
	waits    prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	loop := prometheus.Labels{"controller": "deployment"}
	m := &metrics{
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name:        "controller_manager_sync_failures_total",
			Help:        "Syncs that failed and are tried again, not counting those in which another writer came first.",
			ConstLabels: loop,
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name:        "controller_manager_sync_panics_total",
			Help:        "Syncs that ended in a panic; the object was retried and the others went on.",
			ConstLabels: loop,
		}),
		waits: prometheus.NewCounter(prometheus.CounterOpts{
			Name:        "controller_manager_stale_cache_waits_total",
			Help:        "Syncs put off because the caches had not yet seen the loop's own last writes.",
			ConstLabels: loop,
		}),
	}
	return m, errors.Join(registry.Register(m.failures), registry.Register(m.panics), registry.Register(m.waits))
}
