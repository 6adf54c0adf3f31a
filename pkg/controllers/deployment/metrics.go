package deployment

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/worker"
)

// newMetrics registers the metrics of this loop.
func newMetrics(registry prometheus.Registerer, deployments appslisters.DeploymentLister) (worker.Metrics, error) {
	metrics, err := worker.NewMetrics(registry, "deployment")
	return metrics, errors.Join(err, registry.Register(states{
		deployments: deployments,
		count: prometheus.NewDesc("controller_manager_deployments",
			"Deployments by state: complete, progressing, degraded, stuck, paused, deleting.", []string{"state"}, nil),
	}))
}

// states counts the Deployments in each state whenever somebody asks, and keeps no count of
// its own that could go wrong.
type states struct {
	deployments appslisters.DeploymentLister
	count       *prometheus.Desc
}

// Describe tells what is counted.
func (s states) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- s.count }

// Collect counts. A state that no Deployment is in is there with 0.
func (s states) Collect(metrics chan<- prometheus.Metric) {
	all, err := s.deployments.List(labels.Everything())
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(s.count, err)
		return
	}
	counts := map[rollout.State]int{}
	for _, d := range all {
		counts[rollout.StateOf(d)]++
	}
	for _, state := range rollout.States() {
		metrics <- prometheus.MustNewConstMetric(s.count, prometheus.GaugeValue, float64(counts[state]), string(state))
	}
}
