package worker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

var key = types.NamespacedName{Namespace: "shop", Name: "web"}

// log is a log that several goroutines may write to.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// run runs one worker with the sync until done is called, in fake time, and returns its log.
func run(t *testing.T, sync func(done func()) Sync, panicked func()) string {
	t.Helper()
	var written log
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&written), textlogger.Verbosity(2)))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		queue := NewQueue("")
		pool := Pool{Kind: "deployment", Queue: queue, Sync: sync(cancel), Panicked: panicked, Failed: func() {}}
		queue.Add(key)
		pool.Run(ctx, 1)
	})
	return written.String()
}

// fails returns a sync that fails so often with the error, then ends the run, and the times
// between its calls.
func fails(times int, failure error, gaps *[]time.Duration) func(done func()) Sync {
	return func(done func()) Sync {
		calls, last := 0, time.Now()
		return func(context.Context, types.NamespacedName) (time.Duration, error) {
			*gaps = append(*gaps, time.Since(last))
			last = time.Now()
			if calls++; calls > times {
				done()
				return 0, nil
			}
			return 0, failure
		}
	}
}

func TestAFailedSyncIsRetriedLaterAndLaterAndLoggedNowAndThen(t *testing.T) {
	var gaps []time.Duration
	text := run(t, fails(20, errors.New("no room"), &gaps), nil)
	if got := strings.Count(text, `"Sync failed, will retry"`); got != 2 || !strings.Contains(text, `deployment="shop/web"`) {
		t.Errorf("logged %d times, want the first and the twentieth:\n%s", got, text)
	}
	if gaps[1] != firstRetry || gaps[2] != 2*firstRetry || gaps[20] != longestRetry {
		t.Errorf("waited %v", gaps)
	}
}

func TestEachFailureIsOneLineAndAnotherOneIsSaid(t *testing.T) {
	failures := []error{errors.Join(errors.New("no room"), errors.New("no status")), errors.New("no room"), errors.New("no room"), nil, errors.New("no room"), nil}
	text := run(t, func(done func()) Sync {
		calls := 0
		return func(context.Context, types.NamespacedName) (time.Duration, error) {
			failure := failures[calls]
			if calls++; calls == len(failures) {
				done()
			}
			return time.Second, failure
		}
	}, nil)
	if lines := strings.Count(text, "\n"); lines != 3 || !strings.Contains(text, "no room; no status") {
		t.Errorf("%d lines, want 3:\n%s", lines, text)
	}
}

func TestAConflictIsRetriedWithoutAWord(t *testing.T) {
	var gaps []time.Duration
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web", errors.New("changed"))
	if text := run(t, fails(1, conflict, &gaps), nil); text != "" || len(gaps) != 2 {
		t.Errorf("synced %d times, logged %q", len(gaps), text)
	}
}

func TestAnEndingNamespaceIsNotRetried(t *testing.T) {
	ending := apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("ending"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	calls := 0
	text := run(t, func(done func()) Sync {
		time.AfterFunc(time.Hour, done)
		return func(context.Context, types.NamespacedName) (time.Duration, error) {
			calls++
			return 0, ending
		}
	}, nil)
	if calls != 1 || text != "" {
		t.Errorf("synced %d times, logged %q", calls, text)
	}
}

func TestASyncThatAsksToLookAgainIsCalledThen(t *testing.T) {
	var gaps []time.Duration
	run(t, func(done func()) Sync {
		last := time.Now()
		return func(context.Context, types.NamespacedName) (time.Duration, error) {
			gaps = append(gaps, time.Since(last))
			last = time.Now()
			if len(gaps) == 2 {
				done()
			}
			return time.Minute, nil
		}
	}, nil)
	if gaps[1] != time.Minute {
		t.Errorf("waited %v", gaps)
	}
}

func TestASyncThatWasPutOffIsNoFailureAndEndsNoBackoff(t *testing.T) {
	var gaps []time.Duration
	failures := []error{errors.New("no"), errors.New("no"), ErrPutOff, errors.New("no"), nil}
	text := run(t, func(done func()) Sync {
		last := time.Now()
		return func(context.Context, types.NamespacedName) (time.Duration, error) {
			gaps = append(gaps, time.Since(last))
			last = time.Now()
			failure := failures[len(gaps)-1]
			if failure == nil {
				done()
			}
			if errors.Is(failure, ErrPutOff) {
				return time.Minute, failure
			}
			return 0, failure
		}
	}, nil)
	if gaps[3] != time.Minute || gaps[4] != 4*firstRetry || strings.Count(text, "Sync failed") != 1 {
		t.Errorf("waited %v, logged:\n%s", gaps, text)
	}
}

func TestAPanicIsCountedLoggedAndRetried(t *testing.T) {
	var panics atomic.Int32
	calls := 0
	text := run(t, func(done func()) Sync {
		return func(context.Context, types.NamespacedName) (time.Duration, error) {
			if calls++; calls == 1 {
				panic("a fault")
			}
			done()
			return 0, nil
		}
	}, func() { panics.Add(1) })
	if calls != 2 || panics.Load() != 1 || !strings.Contains(text, "panic: a fault") || !strings.Contains(text, "shop/web") {
		t.Errorf("synced %d times, counted %d panics, logged:\n%s", calls, panics.Load(), text)
	}
}

func TestFailuresAreCounted(t *testing.T) {
	ending := apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("ending"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tests := map[string]struct {
		sync func() error
		want int
	}{
		"an error":                       {func() error { return errors.New("no room") }, 1},
		"a panic":                        {func() error { panic("a fault") }, 1},
		"but no success":                 {func() error { return nil }, 0},
		"nor that somebody wrote first":  {func() error { return apierrors.NewConflict(corev1.Resource("pods"), "web", nil) }, 0},
		"nor a namespace that is ending": {func() error { return ending }, 0},
		"nor what was put off":           {func() error { return ErrPutOff }, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			queue, failures := NewQueue(""), 0
			defer queue.ShutDown()
			pool := Pool{
				Queue:    queue,
				Sync:     func(context.Context, types.NamespacedName) (time.Duration, error) { return 0, test.sync() },
				Panicked: func() {},
				Failed:   func() { failures++ },
			}
			queue.Add(key)
			pool.Next(klog.NewContext(t.Context(), klog.New(nil)))
			if failures != test.want {
				t.Errorf("counted %d failures, want %d", failures, test.want)
			}
		})
	}
}

func TestRunWaitsForTheSyncsUnderWayAndBeginsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		queue := NewQueue("")
		queue.Add(key)
		queue.Add(types.NamespacedName{Name: "another"})
		var synced []string
		pool := Pool{Kind: "deployment", Queue: queue, Sync: func(_ context.Context, key types.NamespacedName) (time.Duration, error) {
			cancel()
			<-time.After(time.Minute) // of fake time, in which Run must not return
			synced = append(synced, key.Name)
			return 0, errors.New("cut short")
		}}
		pool.Run(ctx, 1)
		if len(synced) != 1 || synced[0] != "web" {
			t.Errorf("synced %v when Run returned", synced)
		}
	})
}

func TestAsManySyncsAtOnceAsThereAreWorkers(t *testing.T) {
	const workers = 3
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var busy atomic.Int32
		queue, ended := NewQueue(""), make(chan struct{})
		pool := Pool{Kind: "deployment", Queue: queue, Sync: func(context.Context, types.NamespacedName) (time.Duration, error) {
			busy.Add(1)
			<-ctx.Done()
			return 0, nil
		}}
		for n := range workers + 2 {
			queue.Add(types.NamespacedName{Name: string(rune('a' + n))})
		}
		go func() {
			pool.Run(ctx, workers)
			close(ended)
		}()
		synctest.Wait()
		if got := busy.Load(); got != workers {
			t.Errorf("%d keys are synced at once, want %d", got, workers)
		}
		cancel()
		<-ended
	})
}

func TestSooner(t *testing.T) {
	tests := map[string]struct{ a, b, want time.Duration }{
		"neither is a wait":     {0, 0, 0},
		"only the first is":     {5, 0, 5},
		"only the second is":    {0, 5, 5},
		"the first is shorter":  {3, 5, 3},
		"the second is shorter": {5, 3, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Sooner(test.a, test.b); got != test.want {
				t.Errorf("Sooner(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
			}
		})
	}
}
