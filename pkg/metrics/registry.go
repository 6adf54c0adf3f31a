package metrics

import (
	"log"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Build says what was built; it becomes the labels of controller_manager_build_info.
type Build struct {
	Version   string // "v1.2.3"
	Commit    string // the commit it was built from
	GoVersion string // the Go release it was built with, such as "go1.26.0"
}

// maxScrapes bounds how many scrapes are answered at the same time; more are told
// to come back later.
const maxScrapes = 4

// New returns a registry that holds the metrics of the Go runtime, the process, the
// build and client-go.
//
// Those of client-go are counted once per process, in every registry alike: client-go
// takes one receiver for its numbers and keeps it.
func New(build Build) *prometheus.Registry {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "controller_manager_build_info",
		Help: "Always 1; the labels say which version of controller-manager this is.",
		ConstLabels: prometheus.Labels{
			"version": build.Version, "commit": build.Commit, "go_version": build.GoVersion,
		},
	})
	info.Set(1)

	registry := prometheus.NewRegistry()
	registry.MustRegister(
		// All that the runtime tells, as Kubernetes' own components show it.
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsAll)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		info,
	)
	registry.MustRegister(clientGo()...)
	return registry
}

// Handler serves the metrics of a registry in the formats Prometheus reads. What
// goes wrong while a scrape is answered goes to the given log.
func Handler(registry *prometheus.Registry, errors *log.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            errors,
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}
