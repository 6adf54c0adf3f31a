package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
)

// leader holds the metrics of leader election. The label "name" is that of the lease.
//
// Names and labels: k8s.io/component-base/metrics/prometheus/clientgo/leaderelection.
type leader struct {
	status   *prometheus.GaugeVec
	slowpath *prometheus.CounterVec
}

func newLeader() leader {
	label := []string{"name"}
	return leader{
		status: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "leader_election_master_status",
			Help: "1 while this process holds the lease, 0 while it stands by.",
		}, label),
		slowpath: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leader_election_slowpath_total",
			Help: "Renewals of the lease that had to read it first.",
		}, label),
	}
}

func (l leader) collectors() []prometheus.Collector {
	return []prometheus.Collector{l.status, l.slowpath}
}

// NewLeaderMetric returns the receiver for client-go.
func (l leader) NewLeaderMetric() leaderelection.LeaderMetric { return l }

// On notes that this process holds the lease.
func (l leader) On(name string) { l.status.WithLabelValues(name).Set(1) }

// Off notes that this process does not hold the lease.
func (l leader) Off(name string) { l.status.WithLabelValues(name).Set(0) }

// SlowpathExercised counts a renewal that had to read the lease first.
func (l leader) SlowpathExercised(name string) { l.slowpath.WithLabelValues(name).Inc() }
