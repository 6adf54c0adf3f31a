package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"
)

// clientGo connects client-go to its metrics, the first time it is called, and
// returns the collectors. They live as long as the process, because client-go lets
// nobody take their place.
//
//nolint:gochecknoglobals // it stands for what client-go itself keeps globally, and never changes
var clientGo = sync.OnceValue(func() []prometheus.Collector {
	requests, queues, leader := newRequests(), newQueues(), newLeader()
	metrics.Register(metrics.RegisterOpts{
		RequestLatency:     latency{requests.duration},
		RateLimiterLatency: latency{requests.rateLimiter},
		RequestSize:        size{requests.requestSize},
		ResponseSize:       size{requests.responseSize},
		RequestResult:      result{requests.total},
		RequestRetry:       retries{requests.retries},
	})
	workqueue.SetProvider(queues)
	leaderelection.SetProvider(leader)
	return append(append(requests.collectors(), queues.collectors()...), leader.collectors()...)
})
