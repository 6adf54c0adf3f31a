package app

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

// eventComplaintEvery is the shortest time between two log lines about events that
// cannot be written.
const eventComplaintEvery = 10 * time.Second

// flushWithin bounds how long the end of the work waits for its last events. The next
// leader waits for it.
const flushWithin = time.Second

// recorders makes recorders of events. Their events are sent one after the other, by a
// client of their own; when too many wait (1,000) new ones are dropped. So the loops
// never wait for an event.
type recorders struct {
	broadcaster record.EventBroadcaster
	sink        *eventSink
	logger      klog.Logger
}

// newRecorders sends events until ctx ends. The loops log what they do themselves, so
// events are not logged again.
func newRecorders(ctx context.Context, client kubernetes.Interface) *recorders {
	logger := klog.FromContext(ctx)
	quiet := klog.NewContext(ctx, klog.New(nil)) // the sink does the logging
	sink := &eventSink{
		EventSinkImpl: corev1client.EventSinkImpl{Interface: client.CoreV1().Events("")},
		logger:        logger,
		complaints:    flowcontrol.NewTokenBucketPassiveRateLimiter(float32(1/eventComplaintEvery.Seconds()), 1),
		last:          make(chan struct{}),
	}
	r := &recorders{broadcaster: record.NewBroadcaster(record.WithContext(quiet)), sink: sink, logger: logger}
	r.broadcaster.StartRecordingToSink(sink)
	return r
}

// forLoop returns the recorder of the named loop, which is the events' source component.
func (r *recorders) forLoop(name string) record.EventRecorder {
	return r.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name}).WithLogger(r.logger)
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

// eventSink writes events and says in one line, now and then, that one could not be written.
type eventSink struct {
	corev1client.EventSinkImpl
	logger     klog.Logger
	complaints flowcontrol.PassiveRateLimiter
	last       chan struct{} // closed when lastEvent has come through
}

// Create writes a new event.
func (s *eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	if event.Reason == lastEvent {
		close(s.last)
		return event, nil
	}
	written, err := s.EventSinkImpl.Create(event)
	s.complain(event, err)
	return written, err
}

// Patch counts an event that has happened before.
func (s *eventSink) Patch(event *corev1.Event, patch []byte) (*corev1.Event, error) {
	written, err := s.EventSinkImpl.Patch(event, patch)
	s.complain(event, err)
	return written, err
}

func (s *eventSink) complain(event *corev1.Event, err error) {
	expected := apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	if err == nil || expected || !s.complaints.TryAccept() {
		return
	}
	s.logger.Error(err, "Cannot write an event", "reason", event.Reason,
		"object", klog.KRef(event.InvolvedObject.Namespace, event.InvolvedObject.Name))
}
