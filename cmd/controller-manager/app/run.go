package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoelection "k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"controller-manager/pkg/controllers/deployment"
	"controller-manager/pkg/controllers/replicaset"
	"controller-manager/pkg/controllers/takeover"
	"controller-manager/pkg/leaderelection"
	"controller-manager/pkg/metrics"
)

const (
	// stopTimeout is how long the syncs under way may take to end.
	stopTimeout = 10 * time.Second
	// expiredLeaseTolerance is how long after its lease has expired a leader that is
	// still there counts as alive. It should have ended itself by then.
	expiredLeaseTolerance = 20 * time.Second
)

// run is the life of the process: connect, serve, fill the caches, wait to lead, work.
// It returns nil after an orderly end, once ctx has ended.
func run(ctx context.Context, options *Options) error {
	logger := klog.FromContext(ctx)
	logger.Info("Starting controller-manager", "version", build().Version, "commit", build().Commit)
	config, err := mainConfig(options)
	if err != nil {
		return err
	}
	fence := leaderelection.NewFence()
	if !options.LeaderElect {
		fence = leaderelection.Unguarded()
	}
	clients, err := newClients(options, config, fence)
	if err != nil {
		return err
	}
	registry := metrics.New(build())
	lost, err := metrics.LostEvents(registry)
	if err != nil {
		return err
	}
	check, err := newTakeoverCheck(options, registry)
	if err != nil {
		return err
	}
	caches, err := newCaches(clients.main, options.MinResyncPeriod, check.See)
	if err != nil {
		return err
	}
	watchdog := clientgoelection.NewLeaderHealthzAdaptor(expiredLeaseTolerance)
	server, err := newServer(options, config, registry, newHealth(watchdog, caches), logger)
	if err != nil {
		return err
	}

	// What the work stands on ends after the work.
	underlying, end := context.WithCancel(context.WithoutCancel(ctx))
	stopServing := server.run(underlying)
	defer func() {
		stopServing()
		end()
		caches.stop()
	}()
	if err := awaitAPIServer(ctx, clients.main, config.Host); err != nil {
		return unlessStopped(ctx, err)
	}
	caches.start(underlying)
	if err := caches.await(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	work := &work{options, clients, caches, newRecorders(underlying, clients.events, lost), registry, check}
	return lead(ctx, options, clients, fence, watchdog, work.run)
}

// unlessStopped returns an error, but not if it came from being told to stop.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// lead calls work while this process may write, and returns when that has ended.
func lead(
	ctx context.Context, options *Options, clients *clients, fence *leaderelection.Fence,
	watchdog *clientgoelection.HealthzAdaptor, work func(context.Context) error,
) error {
	var failure error
	record := func(ctx context.Context) { failure = work(ctx) }
	var err error
	if options.LeaderElect {
		err = leaderelection.Run(ctx, leaderelection.Config{
			Client:        clients.leases.CoordinationV1(),
			Namespace:     options.LeaseNamespace,
			Name:          options.LeaseName,
			Identity:      identity(),
			LeaseDuration: options.LeaseDuration,
			RenewDeadline: options.RenewDeadline,
			RetryPeriod:   options.RetryPeriod,
			StopTimeout:   stopTimeout,
			Fence:         fence,
			Watchdog:      watchdog,
		}, record)
	} else {
		err = leaderelection.Unelected(ctx, stopTimeout, record)
	}
	if err != nil {
		return err // the work may go on still: its error is not there to be read
	}
	return failure
}

// identity names this process in the lease: the host for people, the rest because a
// process that starts again is another one.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + "_" + string(uuid.NewUUID())
}

// work is what a leader does.
type work struct {
	options   *Options
	clients   *clients
	caches    *caches
	recorders *recorders
	registry  prometheus.Registerer
	check     *takeover.Check
}

// newTakeoverCheck returns the check that the loops of this process run nowhere else.
func newTakeoverCheck(options *Options, registry prometheus.Registerer) (*takeover.Check, error) {
	manager, _, _ := strings.Cut(userAgent(build()), "/")
	return takeover.New(takeover.Config{
		Mode:        takeover.Mode(options.TakeoverCheck),
		Manager:     manager,
		Deployments: options.enabled(deploymentLoop),
		ReplicaSets: options.enabled(replicaSetLoop),
		Metrics:     registry,
	})
}

// loop is a control loop.
type loop interface {
	// Run works until ctx ends and then until the syncs under way have ended.
	Run(ctx context.Context, workers int)
}

// run makes the loops, runs them until ctx ends or they are found to run elsewhere too, and
// sends what events are left then. The loops are made by the leader only: their queues would
// fill up in a standby, and say that keys had waited for hours.
func (w *work) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() {
		stop()
		group.Wait()
		w.recorders.flush()
	}()
	var start []func()
	for _, name := range []string{deploymentLoop, replicaSetLoop} {
		if !w.options.enabled(name) {
			continue
		}
		loop, workers, err := w.loop(ctx, name)
		if err != nil {
			return fmt.Errorf("setting up %s: %w", name, err)
		}
		start = append(start, func() { loop.Run(ctx, workers) })
	}
	// Both or none: one loop alone would look healthy and do half the work.
	for _, loop := range start {
		group.Go(loop)
	}
	return w.check.Run(ctx)
}

// loop makes the named control loop, and says how many workers it gets.
func (w *work) loop(ctx context.Context, name string) (loop, int, error) {
	client, err := w.clients.forLoop(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	events := w.recorders.forLoop(name)
	if name == deploymentLoop {
		loop, err := deployment.New(deployment.Config{
			Client: client, Events: events, Informers: w.caches.factory,
			Clock: clock.RealClock{}, Metrics: w.registry,
		})
		return loop, w.options.DeploymentSyncs, err
	}
	loop, err := replicaset.New(replicaset.Config{
		Client: client, Events: events, Informers: w.caches.factory,
		Clock: clock.RealClock{}, Metrics: w.registry, PodFailureBackoff: w.options.PodFailureBackoff,
	})
	return loop, w.options.ReplicaSetSyncs, err
}
