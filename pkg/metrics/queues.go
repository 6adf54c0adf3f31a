package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// queues holds the metrics of work queues and hands client-go those of one queue.
//
// Names, labels and buckets: k8s.io/component-base/metrics/prometheus/workqueue.
type queues struct {
	adds, retries                         *prometheus.CounterVec
	depth, unfinishedWork, longestRunning *prometheus.GaugeVec
	timeInQueue, timeAtWork               *prometheus.HistogramVec
}

func newQueues() queues {
	label := []string{"name"}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "workqueue_" + name, Help: help}, label)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_" + name, Help: help}, label)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "workqueue_" + name, Help: help,
			Buckets: prometheus.ExponentialBuckets(10e-9, 10, 10), // 10 ns to 10 s
		}, label)
	}
	return queues{
		adds:           counter("adds_total", "Keys added to the queue."),
		retries:        counter("retries_total", "Keys added to the queue for later: after a failure, or to look at an object again at a time."),
		depth:          gauge("depth", "Keys waiting in the queue."),
		unfinishedWork: gauge("unfinished_work_seconds", "Seconds of work in progress, all workers together."),
		longestRunning: gauge("longest_running_processor_seconds", "Seconds the longest running sync has taken so far."),
		timeInQueue:    histogram("queue_duration_seconds", "How long keys wait in the queue, in seconds."),
		timeAtWork:     histogram("work_duration_seconds", "How long the syncs of keys take, in seconds."),
	}
}

func (q queues) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		q.adds, q.retries, q.depth, q.unfinishedWork, q.longestRunning, q.timeInQueue, q.timeAtWork,
	}
}

// NewDepthMetric returns the gauge of waiting keys for the named queue.
func (q queues) NewDepthMetric(name string) workqueue.GaugeMetric {
	return q.depth.WithLabelValues(name)
}

// NewAddsMetric returns the counter of added keys for the named queue.
func (q queues) NewAddsMetric(name string) workqueue.CounterMetric {
	return q.adds.WithLabelValues(name)
}

// NewLatencyMetric returns the histogram of waiting times for the named queue.
func (q queues) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return q.timeInQueue.WithLabelValues(name)
}

// NewWorkDurationMetric returns the histogram of sync times for the named queue.
func (q queues) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return q.timeAtWork.WithLabelValues(name)
}

// NewUnfinishedWorkSecondsMetric returns the gauge of work in progress for the named queue.
func (q queues) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.unfinishedWork.WithLabelValues(name)
}

// NewLongestRunningProcessorSecondsMetric returns the gauge of the longest running
// sync for the named queue.
func (q queues) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.longestRunning.WithLabelValues(name)
}

// NewRetriesMetric returns the counter of retries for the named queue.
func (q queues) NewRetriesMetric(name string) workqueue.CounterMetric {
	return q.retries.WithLabelValues(name)
}
