package leaderelection

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// candidate is this process in the election.
type candidate struct {
	config  Config
	lease   *lease
	elector *leaderelection.LeaderElector
	led     chan struct{} // closed when this process has become the leader
}

func newCandidate(config Config, lease *lease) (*candidate, error) {
	led := make(chan struct{})
	becomeLeader := sync.OnceFunc(func() { close(led) })
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:          config.Name,
		Lock:          lease,
		LeaseDuration: config.LeaseDuration,
		RenewDeadline: config.RenewDeadline,
		RetryPeriod:   config.RetryPeriod,
		WatchDog:      config.Watchdog,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { becomeLeader() },
			OnStoppedLeading: func() {}, // the return of its Run says so
		},
	})
	if err != nil {
		return nil, fmt.Errorf("campaigning for lease %s/%s: %w", config.Namespace, config.Name, err)
	}
	if config.Watchdog != nil {
		config.Watchdog.SetLeaderElection(elector)
	}
	return &candidate{config: config, lease: lease, elector: elector, led: led}, nil
}

// run campaigns, and renews the lease once it has it, until ctx ends.
//
// client-go's elector tries when it starts and then every 1 to 2.2 retry periods.
// That is too slow for a lease that has just been released; so then it starts anew.
// Should it have won meanwhile, it finds itself the leader and goes on as such.
func (c *candidate) run(ctx context.Context) {
	quiet := klog.NewContext(ctx, klog.New(nil)) // the lease does the logging
	for ctx.Err() == nil {
		turn, endTurn := context.WithCancel(quiet)
		go func() {
			if c.released(turn) {
				endTurn()
			}
		}()
		c.elector.Run(turn)
		endTurn()
	}
}

// released watches the lease and returns true when its holder gives it up. It returns
// false when ctx ends or this process holds the lease. That nobody holds it from the start
// is news only if the elector has seen a holder: it was released before the watch began.
// Otherwise it has tried already.
func (c *candidate) released(ctx context.Context) bool {
	held := false
	for event := range c.events(ctx) {
		switch holderOf(event) {
		case c.config.Identity:
			return false
		case "":
			if leader := c.elector.GetLeader(); held || leader != "" && leader != c.config.Identity {
				return true
			}
		default:
			held = true
		}
	}
	return false
}

// events yields what happens to the lease until ctx ends. While it cannot be watched
// nothing is yielded; a release is then noticed when the elector tries the next time.
func (c *candidate) events(ctx context.Context) iter.Seq[watch.Event] {
	return func(yield func(watch.Event) bool) {
		for {
			stream, err := c.config.Client.Leases(c.config.Namespace).Watch(ctx, metav1.ListOptions{
				FieldSelector: fields.OneTermEqualSelector("metadata.name", c.config.Name).String(),
			})
			if err == nil && !forward(ctx, stream, yield) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(c.config.RetryPeriod):
			}
		}
	}
}

// forward yields the lease's events until the stream ends; false when ctx has ended or
// enough were seen.
func forward(ctx context.Context, stream watch.Interface, yield func(watch.Event) bool) bool {
	defer stream.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case event, open := <-stream.ResultChan():
			if !open || event.Type == watch.Error {
				return true
			}
			if !yield(event) {
				return false
			}
		}
	}
}

// holderOf returns who holds the lease after the event, "" for nobody.
func holderOf(event watch.Event) string {
	lease, ok := event.Object.(*coordinationv1.Lease)
	if !ok || event.Type == watch.Deleted {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}
