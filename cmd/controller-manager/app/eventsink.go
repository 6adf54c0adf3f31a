package app

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

const (
	// eventComplaintEvery is the shortest time between two log lines about events that
	// cannot be written.
	eventComplaintEvery = 10 * time.Second
	// eventTries and eventRetryEvery say for how long an event is held, and all behind it, while the
	// API server cannot be reached. They are those of client-go (tools/record, event.go).
	eventTries      = 12
	eventRetryEvery = 10 * time.Second
)

// eventSink writes events one by one, and says in one line, now and then, that one could not be written.
//
// What happens again is counted in the event that is there, as users know it. Beyond that
// client-go's correlator drops, after 25 events about an object, and makes one of those with the
// same reason, after 10. That is kept for warnings, which repeat for as long as their cause
// is there. The loops themselves bound all other events and sum them up (package
// telling): none of those is dropped or changed here.
type eventSink struct {
	client     corev1client.EventSinkImpl
	news       *record.EventCorrelator
	warnings   *record.EventCorrelator
	logger     klog.Logger
	complaints flowcontrol.PassiveRateLimiter
	lost       prometheus.Counter
	last       chan struct{} // closed when lastEvent has come through
}

func newEventSink(client corev1client.EventInterface, logger klog.Logger, lost prometheus.Counter) *eventSink {
	return &eventSink{
		client: corev1client.EventSinkImpl{Interface: client},
		news: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{
			BurstSize: math.MaxInt32, MaxEvents: math.MaxInt32,
			KeyFunc: eachByItself,
		}),
		warnings:   record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{}),
		logger:     logger,
		complaints: flowcontrol.NewTokenBucketPassiveRateLimiter(float32(1/eventComplaintEvery.Seconds()), 1),
		lost:       lost,
		last:       make(chan struct{}),
	}
}

// eachByItself groups no events of different messages. The one of client-go would keep the
// messages of each object, to count them.
func eachByItself(event *corev1.Event) (group, member string) {
	group, message := record.EventAggregatorByReasonFunc(event)
	return group + message, ""
}

// write sends an event, and tries again while the API server cannot be reached.
func (s *eventSink) write(ctx context.Context, event *corev1.Event) {
	if event.Reason == lastEvent {
		close(s.last)
		return
	}
	correlator := s.news
	if event.Type == corev1.EventTypeWarning {
		correlator = s.warnings
	}
	result, err := correlator.EventCorrelate(event)
	if err == nil && result.Skip {
		return
	}
	for try := 1; err == nil; try++ {
		var written *corev1.Event
		if written, err = s.send(result); err == nil {
			correlator.UpdateState(written)
			return
		}
		if !s.complain(event, err) {
			return
		}
		var refused apierrors.APIStatus
		if errors.As(err, &refused) || try == eventTries {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(eventRetryEvery):
			err = nil
		}
	}
	s.lost.Inc()
}

// send makes a new event, or counts one that has happened before, unless that has gone since.
func (s *eventSink) send(result *record.EventCorrelateResult) (*corev1.Event, error) {
	if result.Event.Count > 1 {
		written, err := s.client.Patch(result.Event, result.Patch)
		if !apierrors.IsNotFound(err) {
			return written, err
		}
	}
	result.Event.ResourceVersion = "" // that of the one that has gone
	return s.client.Create(result.Event)
}

// complain says now and then that an event cannot be written; false if that is as it should be.
func (s *eventSink) complain(event *corev1.Event, err error) bool {
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false
	}
	if s.complaints.TryAccept() {
		s.logger.Error(err, "Cannot write an event", "reason", event.Reason,
			"object", klog.KRef(event.InvolvedObject.Namespace, event.InvolvedObject.Name))
	}
	return true
}
