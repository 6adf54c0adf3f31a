package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
)

// flushWithin bounds how long the end of the work waits for its last events. The next
// leader waits for it.
const flushWithin = time.Second

// What waits is bounded, so that an API server that does not take events costs neither time nor
// memory. The recorders of client-go have a bound too, of the same size, but what is beyond
// it is dropped there without a word.
const mostWaiting = 1000

// recorders makes recorders of events. Their events are sent one after the other, by a
// client of their own; when too many wait new ones are dropped and counted. So the loops
// never wait for an event.
type recorders struct {
	broadcaster record.EventBroadcaster
	sink        *eventSink
	logger      klog.Logger
	waiting     atomic.Int64 // how many events have not been sent yet
	lost        prometheus.Counter
}

// newRecorders sends events until ctx ends. The loops log what they do themselves, so
// events are not logged again. Those that cannot be sent count as lost.
func newRecorders(ctx context.Context, client kubernetes.Interface, lost prometheus.Counter) *recorders {
	logger := klog.FromContext(ctx)
	quiet := klog.NewContext(ctx, klog.New(nil)) // the sink does the logging
	r := &recorders{
		broadcaster: record.NewBroadcaster(record.WithContext(quiet)),
		sink:        newEventSink(client.CoreV1().Events(""), logger, lost),
		logger:      logger,
		lost:        lost,
	}
	r.broadcaster.StartEventWatcher(func(event *corev1.Event) {
		if event.Reason != lastEvent {
			defer r.waiting.Add(-1)
		}
		r.sink.write(ctx, event)
	})
	return r
}

// forLoop returns the recorder of the named loop, which is the events' source component.
func (r *recorders) forLoop(name string) record.EventRecorder {
	return bounded{r.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name}).WithLogger(r.logger), r}
}

// bounded is a recorder that drops events when too many wait.
type bounded struct {
	record.EventRecorder
	*recorders
}

// Event sends an event, or drops it.
func (b bounded) Event(object runtime.Object, kind, reason, message string) {
	if b.admits() {
		b.EventRecorder.Event(object, kind, reason, message)
	}
}

// Eventf sends an event, or drops it.
func (b bounded) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	b.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf sends an event, or drops it.
func (b bounded) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string, args ...any) {
	if b.admits() {
		b.EventRecorder.AnnotatedEventf(object, annotations, kind, reason, format, args...)
	}
}

// admits reports whether one more event may wait, and counts it.
func (r *recorders) admits() bool {
	if r.waiting.Add(1) <= mostWaiting {
		return true
	}
	r.waiting.Add(-1)
	r.lost.Inc()
	return false
}

// flush returns once the events that were recorded have been sent, so that the last things
// this process did are told too, and told before the next leader acts. It does not wait
// longer than flushWithin. It is called once, when the loops have ended.
func (r *recorders) flush() {
	// Events are sent in order: when this one arrives, all before it have.
	r.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{}).WithLogger(r.logger).
		Event(&corev1.ObjectReference{Kind: lastEvent}, corev1.EventTypeNormal, lastEvent, "")
	select {
	case <-r.sink.last:
	case <-time.After(flushWithin):
		r.logger.Info("Ending although not all events have been sent", "waited", flushWithin)
	}
}

// lastEvent is the reason of the event that flush sends to itself. It never leaves the process.
const lastEvent = "LastEvent"
