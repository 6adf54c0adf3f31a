package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
)

// ErrLost is returned by Run when this process led and its lease was lost.
var ErrLost = errors.New("the lease was lost")

// ErrStuck is returned by Run when the work did not end in time after it was told to.
var ErrStuck = errors.New("the work did not end in time")

// Config says for which lease to campaign, and how.
type Config struct {
	// Client reads, writes and watches the lease. It should have a connection and a
	// rate limit of its own, so that the work never delays a renewal.
	Client coordinationv1client.LeasesGetter
	// Namespace and Name are those of the Lease; Identity is this process's in it.
	Namespace, Name, Identity string
	// LeaseDuration is how long the others wait after a renewal before they take
	// over, RenewDeadline how long a leader goes on without one (shorter), and
	// RetryPeriod the time between renewals (shorter again, by 1.2 times or more).
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// StopTimeout is how long the work may take to end after it was told to.
	StopTimeout time.Duration
	// Fence is opened while this process leads. Run closes it for good.
	Fence *Fence
	// Watchdog, if not nil, learns of the election and then reports a lease that was
	// neither renewed nor given up.
	Watchdog *leaderelection.HealthzAdaptor
}

// Run campaigns for the lease, calls lead once when this process has it, and returns
// when lead has returned. The context of lead ends with ctx, or when the lease is lost.
//
// It returns nil if ctx has ended or lead has returned by itself; the lease is then
// released. It returns ErrLost if the lease was lost, and ErrStuck if lead goes on after
// StopTimeout; then the lease is left to expire, so that what is still under way has
// time to end before the next leader starts.
func Run(ctx context.Context, config Config, lead func(context.Context)) error {
	defer config.Fence.Close()
	logger := klog.LoggerWithValues(klog.FromContext(ctx), "lease", klog.KRef(config.Namespace, config.Name))
	candidate, err := newCandidate(config, newLease(config, logger))
	if err != nil {
		return err
	}

	// The election outlives ctx: the lease must be renewed until the work has ended.
	electing, stopElecting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopElecting()
	over := make(chan struct{})
	go func() {
		defer close(over)
		candidate.run(electing)
	}()

	select {
	case <-candidate.led:
		logger.Info("Became the leader", "identity", config.Identity)
		err = leadUntilOver(ctx, config, stopElecting, lead)
	case <-ctx.Done():
	}
	stopElecting()
	<-over
	if err != nil {
		return fmt.Errorf("lease %s/%s: %w", config.Namespace, config.Name, err)
	}
	config.Fence.Close()
	candidate.lease.release(context.WithoutCancel(ctx))
	return nil
}

// leadUntilOver calls lead and returns nil when that has ended in good order.
func leadUntilOver(ctx context.Context, config Config, stopElecting func(), lead func(context.Context)) error {
	leading, stopLeading := context.WithCancel(ctx)
	defer stopLeading()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		lead(leading)
	}()

	var lost error
	select {
	case <-finished:
		return nil
	case <-ctx.Done():
	case <-config.Fence.Closed():
		stopElecting() // this process could do nothing with the lease if it won it again
		lost = fmt.Errorf("%w: it was taken by another process, or not renewed within %s", ErrLost, config.RenewDeadline)
	}
	stopLeading()
	select {
	case <-finished:
		return lost
	case <-time.After(config.StopTimeout):
		return errors.Join(lost, fmt.Errorf("%w (%s)", ErrStuck, config.StopTimeout))
	}
}

// Unelected calls lead without a lease, for a process that is the only one. It returns nil
// when lead has returned, and ErrStuck if lead goes on after ctx has ended, for longer than
// stopTimeout.
func Unelected(ctx context.Context, stopTimeout time.Duration, lead func(context.Context)) error {
	return leadUntilOver(ctx, Config{StopTimeout: stopTimeout, Fence: Unguarded()}, func() {}, lead)
}
