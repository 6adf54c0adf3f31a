package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// podNamed returns a Pod that events can be about.
func podNamed(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name},
	}
}

// uncounted counts lost events for nobody.
func uncounted() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "lost"})
}

func TestEventsAreWrittenWithTheirSourceAndNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		api := &stub{answer: func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch {
				return reply(http.StatusOK, &corev1.Event{TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "v1"}}), nil
			}
			event := decode(t, r, &corev1.Event{})
			got = append(got, fmt.Sprintf("%s %s %s: %s", event.Source.Component, event.Type, event.Reason, event.Message))
			event.TypeMeta = metav1.TypeMeta{Kind: "Event", APIVersion: "v1"}
			return reply(http.StatusCreated, event), nil
		}}
		logger, log := bufferedLogger(t)
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
		recorders := newRecorders(ctx, api.client(t), uncounted())
		recorders.forLoop(deploymentLoop).Eventf(podNamed("x"), corev1.EventTypeNormal, "Did", "it %d times", 2)
		recorders.forLoop(replicaSetLoop).Event(podNamed("x"), corev1.EventTypeWarning, "Failed", "why")
		recorders.forLoop(replicaSetLoop).Event(podNamed("x"), corev1.EventTypeWarning, "Failed", "why")
		synctest.Wait()

		want := []string{"deployment-controller Normal Did: it 2 times", "replicaset-controller Warning Failed: why"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if requests := api.seen(); len(requests) != 3 || !strings.HasPrefix(requests[2], "PATCH ") {
			t.Errorf("got requests %q, want the repeated event counted by a patch", requests)
		}
		if log.String() != "" {
			t.Errorf("got log %q, want none", log.String())
		}
		stop()
		synctest.Wait()
	})
}

func TestEventsThatCannotBeWrittenAreSaidNowAndThenAndHoldNobodyUp(t *testing.T) {
	tests := map[string]struct {
		answer func() (*http.Response, error)
		lines  int
		lost   float64 // of 20, at once
	}{
		"no permission": {func() (*http.Response, error) {
			return refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "no role"), nil
		}, 1, 20},
		"no connection": {func() (*http.Response, error) { return nil, errors.New("no route") }, 1, 0},
		"a namespace that is gone, which is as it should be": {func() (*http.Response, error) {
			return refuse(http.StatusNotFound, metav1.StatusReasonNotFound, "not found"), nil
		}, 0, 0},
		"a namespace that is going, which is as it should be": {func() (*http.Response, error) {
			return reply(http.StatusForbidden, &metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
				Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
			}), nil
		}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &stub{answer: func(*http.Request) (*http.Response, error) { return test.answer() }}
				logger, log := bufferedLogger(t)
				ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
				lost := uncounted()
				recorder := newRecorders(ctx, api.client(t), lost).forLoop(deploymentLoop)
				begun := time.Now()
				for n := range 20 {
					recorder.Event(podNamed(fmt.Sprint(n)), corev1.EventTypeNormal, "Did", "it")
				}
				if took := time.Since(begun); took > 0 {
					t.Errorf("20 events took %s of the loop's time, want none", took)
				}
				synctest.Wait()
				if got := strings.Count(log.String(), "\n"); got != test.lines {
					t.Errorf("got %d lines, want %d:\n%s", got, test.lines, log.String())
				}
				if got := valueOf(t, lost); got != test.lost {
					t.Errorf("%v events are counted as lost, want %v", got, test.lost)
				}
				for line := range strings.Lines(log.String()) {
					isOneLine(t, line, "Cannot write an event", `reason="Did"`, `object="a/0"`)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

func TestTheEndOfTheWorkWaitsForItsEventsButNotForLong(t *testing.T) {
	tests := map[string]struct {
		each time.Duration // what the API server takes for one event
		sent int           // how many of 5 have been sent when the wait is over
		took time.Duration
	}{
		"events are sent first":                {100 * time.Millisecond, 5, 500 * time.Millisecond},
		"nothing to wait for, as all are sent": {0, 5, 0},
		"an API server that takes its time":    {300 * time.Millisecond, 3, flushWithin},
		"an API server that does not answer":   {time.Hour, 0, flushWithin},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				logger, log := bufferedLogger(t)
				ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
				var sent atomic.Int64
				api := &stub{answer: func(*http.Request) (*http.Response, error) {
					select {
					case <-time.After(test.each):
						sent.Add(1)
						return reply(http.StatusCreated, &corev1.Event{TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "v1"}}), nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}}
				recorders := newRecorders(ctx, api.client(t), uncounted())
				for n := range 5 {
					recorders.forLoop(deploymentLoop).Event(podNamed(fmt.Sprint(n)), corev1.EventTypeNormal, "Did", "it")
				}
				begun := time.Now()
				recorders.flush()
				if took := time.Since(begun); took != test.took {
					t.Errorf("it waited %s, want %s", took, test.took)
				}
				if got := int(sent.Load()); got != test.sent {
					t.Errorf("%d events were sent by then, want %d", got, test.sent)
				}
				if said := strings.Contains(log.String(), "not all events have been sent"); said != (test.took == flushWithin) {
					t.Errorf("got log %q", log.String())
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// written returns how many events there are by what they say, where the API server knows each.
func written(t *testing.T, api *stub) map[string]int32 {
	t.Helper()
	counts := map[string]int32{}
	api.answer = func(r *http.Request) (*http.Response, error) {
		event := decode(t, r, &corev1.Event{})
		if event.Count > counts[event.Message] {
			counts[event.Message] = event.Count
		}
		event.TypeMeta = metav1.TypeMeta{Kind: "Event", APIVersion: "v1"}
		return reply(http.StatusCreated, event), nil
	}
	return counts
}

// TestTheLoopsOwnBoundIsTheOnlyOneForNews: what the loops have bounded and summed up is told as it is, and
// warnings, which repeat without an end, have client-go's limits.
func TestTheLoopsOwnBoundIsTheOnlyOneForNews(t *testing.T) {
	tests := map[string]struct {
		kind        string
		differ      bool
		different   int   // how many different messages can be read
		mostAndLast int32 // how often one of them is counted
	}{
		"different news are all told":                   {corev1.EventTypeNormal, true, 100, 1},
		"news of one text are counted":                  {corev1.EventTypeNormal, false, 1, 100},
		"of different warnings some are put together":   {corev1.EventTypeWarning, true, 25, 16},
		"of warnings of one text only some are counted": {corev1.EventTypeWarning, false, 1, 25},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &stub{}
				counts := written(t, api)
				ctx, stop := context.WithCancel(t.Context())
				recorder := newRecorders(ctx, api.client(t), uncounted()).forLoop(replicaSetLoop)
				for n := range 100 {
					message := "it"
					if test.differ {
						message = fmt.Sprint(n)
					}
					recorder.Event(podNamed("x"), test.kind, "Did", message)
				}
				synctest.Wait()
				var most int32
				for _, count := range counts {
					most = max(most, count)
				}
				if len(counts) != test.different || most != test.mostAndLast {
					t.Errorf("%d different messages, one of them %d times, want %d and %d: %v",
						len(counts), most, test.different, test.mostAndLast, counts)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// TestEventsThatFindNoRoomAreCounted: and whoever sends them does not wait. After a while the
// API server answers, and what did find room is told.
func TestEventsThatFindNoRoomAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sent, blocked = 3 * mostWaiting, time.Hour
		var told atomic.Int64
		begun := time.Now()
		api := &stub{answer: func(*http.Request) (*http.Response, error) {
			<-time.After(blocked - time.Since(begun))
			told.Add(1)
			return reply(http.StatusCreated, &corev1.Event{TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "v1"}}), nil
		}}
		ctx, stop := context.WithCancel(t.Context())
		lost := uncounted()
		recorder := newRecorders(ctx, api.client(t), lost).forLoop(replicaSetLoop)
		var group sync.WaitGroup
		for worker := range 5 {
			group.Go(func() {
				for n := range sent / 5 {
					recorder.Eventf(podNamed(fmt.Sprint(worker, "-", n)), corev1.EventTypeNormal, "Did", "it %d times", n)
				}
			})
		}
		group.Wait()
		if took := time.Since(begun); took > 0 {
			t.Errorf("%d events took %s of the loop's time, want none", sent, took)
		}
		if got := valueOf(t, lost); got != sent-mostWaiting {
			t.Errorf("%v events are counted as lost, want %d", got, sent-mostWaiting)
		}
		<-time.After(blocked)
		synctest.Wait()
		if got := told.Load(); got != mostWaiting {
			t.Errorf("%d events were told in the end, want the %d that found room", got, mostWaiting)
		}
		recorder.Event(podNamed("later"), corev1.EventTypeNormal, "Did", "it")
		synctest.Wait()
		if got := told.Load(); got != mostWaiting+1 || valueOf(t, lost) != sent-mostWaiting {
			t.Errorf("%d events told and %v lost after another one, want %d and %d", got, valueOf(t, lost), mostWaiting+1, sent-mostWaiting)
		}
		stop()
		synctest.Wait()
	})
}

// valueOf returns what a counter has counted.
func valueOf(t *testing.T, counter prometheus.Counter) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(counter)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}
