package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// LostEvents registers and returns the counter of events that were not written.
func LostEvents(registry prometheus.Registerer) (prometheus.Counter, error) {
	lost := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "controller_manager_events_lost_total",
		Help: "Events that were not written: too many waited, or the API server could not be reached for minutes or refused them.",
	})
	if err := registry.Register(lost); err != nil {
		return nil, fmt.Errorf("registering the metric of lost events: %w", err)
	}
	return lost, nil
}
