package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// The delays between retries of one failing key: the first one is short, since most
// failures are conflicts with somebody else's write; each doubles the one before. The
// longest bounds how late a loop notices that the cause is gone, such as room in a quota: well
// within half a minute. A cause that stays costs 24 requests in the first five minutes.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = 25 * time.Second
)

// Queue is the workqueue of a control loop; its keys name the loop's objects.
type Queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// NewQueue returns a Queue whose metrics carry the given name.
func NewQueue(name string) Queue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		Retries(),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: name},
	)
}

// Retries says how long a failing key waits for its next try.
func Retries() workqueue.TypedRateLimiter[types.NamespacedName] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, longestRetry)
}

// ErrPutOff is returned by a Sync that had to wait before it could do its work, and had
// no other trouble. That is no failure, and no success that would end the waits between retries.
var ErrPutOff = errors.New("put off")

// Sooner returns the shorter of two waits, of which 0 stands for none.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Sync brings the object of a key one step closer to what is wanted. It returns
// after what time to look again even if nothing happens (0: only when something
// does), and why it could not do its work.
type Sync func(ctx context.Context, key types.NamespacedName) (lookAgain time.Duration, err error)

// Pool runs workers that call Sync for the keys in Queue.
type Pool struct {
	// Kind is the log key of the objects, such as "deployment".
	Kind  string
	Queue Queue
	Sync  Sync
	// Panicked is called after a panic in Sync, for a metric.
	Panicked func()
	// Failed is called for each Sync that failed, for a metric: whose key is tried again,
	// though not because somebody else wrote first.
	Failed func()

	said sync.Map // by key, the failure that was logged last
}

// sayAgain is how many failures of the same kind pass before it is logged again: about ten
// minutes, once the longest wait between retries is reached.
const sayAgain = 20

// Run starts the given number of workers and returns when the context has ended
// and each worker has finished the sync it was in. The same key is never synced
// by two workers at once; the queue sees to that.
func (p *Pool) Run(ctx context.Context, workers int) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for p.Next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.Queue.ShutDown()
	group.Wait()
}

// Next takes one key through its sync; false when there will be no more. It waits for a key
// as long as the queue does.
func (p *Pool) Next(ctx context.Context) bool {
	key, shutdown := p.Queue.Get()
	if shutdown {
		return false
	}
	defer p.Queue.Done(key)
	if ctx.Err() != nil {
		return true // stopping: drain the queue, do nothing more
	}
	logger := klog.LoggerWithValues(klog.FromContext(ctx), p.Kind, klog.KRef(key.Namespace, key.Name))
	lookAgain, err := p.guarded(klog.NewContext(ctx, logger), key)
	p.settle(ctx, logger, key, lookAgain, err)
	return true
}

// settle decides what becomes of a key after its sync.
func (p *Pool) settle(ctx context.Context, logger klog.Logger, key types.NamespacedName, lookAgain time.Duration, err error) {
	switch {
	case err == nil:
		p.Queue.Forget(key)
		p.said.Delete(key)
	case err == ErrPutOff: //nolint:errorlint // joined with a failure, it is a failure
	case ctx.Err() != nil:
		return // what failed because we are stopping is no failure
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// Nothing can be created there until the namespace is gone, and then
		// the object is gone too. Retrying would only slow the deletion down.
		logger.V(4).Info("Not retrying, the namespace is being deleted", "err", err)
		p.Queue.Forget(key)
	case apierrors.IsConflict(err):
		logger.V(4).Info("Retrying, somebody else wrote the object first", "err", err)
		p.Queue.AddRateLimited(key)
	default:
		p.Failed()
		p.complain(logger, key, err)
		p.Queue.AddRateLimited(key)
	}
	if lookAgain > 0 {
		p.Queue.AddAfter(key, lookAgain)
	}
}

// complain logs a failure in one line, and the same failure of a key not again with each
// retry.
func (p *Pool) complain(logger klog.Logger, key types.NamespacedName, err error) {
	failures := p.Queue.NumRequeues(key) + 1
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // joined errors have a line each
	if before, known := p.said.Swap(key, text); known && before == text && failures%sayAgain != 0 {
		logger.V(4).Info("Sync failed as before, will retry", "failures", failures)
		return
	}
	logger.Error(errors.New(text), "Sync failed, will retry", "failures", failures)
}

// guarded calls Sync and turns a panic into an error, so that one object that
// trips a fault does not take the work for all others down with it.
func (p *Pool) guarded(ctx context.Context, key types.NamespacedName) (lookAgain time.Duration, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			p.Panicked()
			klog.FromContext(ctx).Error(nil, "Sync panicked", "panic", fault, "stack", string(debug.Stack()))
			what, _, _ := strings.Cut(fmt.Sprint(fault), "\n") // the rest is in the log
			err = fmt.Errorf("panic: %s", what)
		}
	}()
	return p.Sync(ctx, key)
}
