package metrics

import (
	"context"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requests holds the metrics of requests to the API server. The label "host" is the
// API server's address, never an object's name.
//
// Names, labels and buckets: k8s.io/component-base/metrics/prometheus/restclient.
type requests struct {
	total, retries            *prometheus.CounterVec
	duration, rateLimiter     *prometheus.HistogramVec
	requestSize, responseSize *prometheus.HistogramVec
}

func newRequests() requests {
	seconds := []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	bytes := []float64{64, 256, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rest_client_" + name, Help: help, Buckets: buckets,
		}, []string{"verb", "host"})
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rest_client_" + name, Help: help}, labels)
	}
	return requests{
		total: counter("requests_total",
			"Requests to the API server, by status code, method and host.", "code", "method", "host"),
		retries: counter("request_retries_total",
			"Requests sent again, by status code, verb and host.", "code", "verb", "host"),
		duration: histogram("request_duration_seconds",
			"How long requests took, in seconds, by verb and host.", seconds),
		rateLimiter: histogram("rate_limiter_duration_seconds",
			"How long requests waited for the client's own rate limit, in seconds, by verb and host.", seconds),
		requestSize: histogram("request_size_bytes",
			"Size of request bodies in bytes, by verb and host.", bytes),
		responseSize: histogram("response_size_bytes",
			"Size of response bodies in bytes, by verb and host.", bytes),
	}
}

func (r requests) collectors() []prometheus.Collector {
	return []prometheus.Collector{r.total, r.retries, r.duration, r.rateLimiter, r.requestSize, r.responseSize}
}

type latency struct{ seconds *prometheus.HistogramVec }

// Observe takes note of one request. Of its address only the host is kept.
func (l latency) Observe(_ context.Context, verb string, address url.URL, took time.Duration) {
	l.seconds.WithLabelValues(verb, address.Host).Observe(took.Seconds())
}

type size struct{ bytes *prometheus.HistogramVec }

// Observe takes note of the size of one body, in bytes.
func (s size) Observe(_ context.Context, verb, host string, bytes float64) {
	s.bytes.WithLabelValues(verb, host).Observe(bytes)
}

type result struct{ total *prometheus.CounterVec }

// Increment counts one answer.
func (r result) Increment(_ context.Context, code, method, host string) {
	r.total.WithLabelValues(code, method, host).Inc()
}

type retries struct{ total *prometheus.CounterVec }

// IncrementRetry counts one request that is sent again.
func (r retries) IncrementRetry(_ context.Context, code, verb, host string) {
	r.total.WithLabelValues(code, verb, host).Inc()
}
