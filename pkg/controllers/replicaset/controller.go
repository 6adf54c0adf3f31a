package replicaset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"controller-manager/pkg/controllers/freshness"
	"controller-manager/pkg/controllers/replicaset/scale"
	"controller-manager/pkg/controllers/skew"
	"controller-manager/pkg/controllers/watched"
	"controller-manager/pkg/controllers/worker"
)

// catchUp is how soon a ReplicaSet is looked at again whose last writes the caches have not
// shown yet. Nearly always the watch event that brings them wakes it earlier. The timer is
// for the rest: a Pod that was made and deleted again while the watch was interrupted
// brings no event, only a cache that has read past it. A second is short against
// that, and such a look costs no request.
const catchUp = time.Second

// The resources whose caches have to show this loop's own writes.
const (
	podResource        = "pods"
	replicaSetResource = "replicasets"
)

// Config is what the loop needs from the process around it.
type Config struct {
	// Client makes this loop's writes and live reads.
	Client kubernetes.Interface
	// Events records events with the source component "replicaset-controller".
	Events record.EventRecorder
	// Informers is the process's factory. Its ReplicaSet and Pod informers carry
	// ownership.Indexers, and Pods may be trimmed by pods.Trim.
	Informers informers.SharedInformerFactory
	Clock     clock.PassiveClock
	Metrics   prometheus.Registerer
	// PodFailureBackoff makes the loop wait, ever longer, before it replaces Pods that fail as soon
	// as they are made.
	PodFailureBackoff bool
	// Queue holds the keys of ReplicaSets to sync; nil for one of package worker.
	Queue worker.Queue
	// AtOnce bounds how many requests of one sync are under way at once; 0 for as many as
	// keep an API server busy.
	AtOnce int
	// Suffix makes the last five characters of a Pod's name; nil for random ones.
	Suffix func() string
}

// Controller is the ReplicaSet loop.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock

	replicaSets appslisters.ReplicaSetLister
	rsIndexer   cache.Indexer
	podIndexer  cache.Indexer
	synced      []cache.InformerSynced

	queue     worker.Queue
	pool      *worker.Pool
	freshness *freshness.Tracker
	inflight  *inflight
	refusals  *refusals
	tells     tells
	failures  *failures
	pauses    bool // where Pods fail as soon as they are made
	metrics   *metrics
	atOnce    int

	terminatingCount skew.TerminatingCount
}

// New returns the loop, and lets the informers call it. They may have started already.
func New(config Config) (*Controller, error) {
	replicaSets := config.Informers.Apps().V1().ReplicaSets()
	pods := config.Informers.Core().V1().Pods()
	c := &Controller{
		client:      config.Client,
		events:      config.Events,
		clock:       config.Clock,
		replicaSets: replicaSets.Lister(),
		rsIndexer:   replicaSets.Informer().GetIndexer(),
		podIndexer:  pods.Informer().GetIndexer(),
		queue:       config.Queue,
		freshness: freshness.NewTracker(map[string]freshness.Store{
			replicaSetResource: replicaSets.Informer().GetStore(),
			podResource:        pods.Informer().GetStore(),
		}),
		inflight: newInflight(pods.Informer().GetStore()),
		refusals: &refusals{},
		failures: &failures{sets: map[types.NamespacedName]*failingSet{}},
		pauses:   config.PodFailureBackoff,
		atOnce:   cmp.Or(config.AtOnce, widest),
	}
	if c.queue == nil {
		c.queue = worker.NewQueue("replicaset")
	}
	if config.Suffix != nil {
		c.inflight.suffix = config.Suffix
	}
	c.tells = c.newTells()
	var err error
	if c.metrics, err = newMetrics(config.Metrics, c.failures); err != nil {
		return nil, fmt.Errorf("registering the metrics of the ReplicaSet loop: %w", err)
	}
	c.pool = &worker.Pool{Kind: "replicaSet", Queue: c.queue, Sync: c.turn, Panicked: c.metrics.Panics.Inc, Failed: c.metrics.Failures.Inc}
	c.synced, err = watched.Attach(map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		replicaSets.Informer(): c.replicaSetHandler(),
		pods.Informer():        c.podHandler(),
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the ReplicaSet loop: %w", err)
	}
	return c, nil
}

// Run syncs ReplicaSets with the given number of workers, from when the caches are filled
// until the context ends and each worker has finished its sync. It can be called once.
func (c *Controller) Run(ctx context.Context, workers int) {
	logger := klog.FromContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		c.queue.ShutDown()
		return
	}
	logger.V(2).Info("ReplicaSet loop started", "workers", workers)
	c.pool.Run(ctx, workers)
	c.tells.rest()
	logger.V(2).Info("ReplicaSet loop stopped")
}

// Next syncs the ReplicaSet whose turn it is, as each worker of Run does over and over. It
// is for programs that decide themselves what happens when.
func (c *Controller) Next(ctx context.Context) { c.pool.Next(ctx) }

// turn is a sync, and the telling of what has waited for its time.
func (c *Controller) turn(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	lookAgain, err := c.sync(ctx, key)
	return worker.Sooner(lookAgain, c.tells.due(key, c.clock.Now())), err
}

// sync brings one ReplicaSet one step further: observe → Decide → apply → Status.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	logger := klog.FromContext(ctx)
	unseen := c.unseenWrites(logger, key) // asked before the caches are read, which only get newer
	rs, err := c.replicaSets.ReplicaSets(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.freshness.Forget(key)
		c.inflight.forget(key)
		c.refusals.Forget(key)
		c.tells.forget(key)
		c.failures.forget(key)
		logger.V(4).Info("ReplicaSet is gone")
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the cache: %w", err)
	}
	selector, err := usableSelector(rs)
	if err != nil {
		return 0, c.leaveAlone(ctx, rs, err)
	}
	owned := c.claim(rs, selector)
	if !owned.active.Settled() && !unseen.any() {
		// What the caches say is of the past from here on: the sync ends.
		return c.settleOwnership(ctx, rs, owned.active)
	}
	snapshot := c.observe(rs, owned, !unseen.any())
	plan := scale.Decide(snapshot)
	logger.V(4).Info("Decided", "create", plan.Create, "delete", len(plan.Delete), "reason", plan.Why)
	c.tellFailures(ctx, snapshot, plan)
	outcome := c.apply(ctx, snapshot, plan)
	status, lookAgain := scale.Status(snapshot, plan, outcome)
	// A status that acknowledges a size says that no Pod is there which it does not count; and
	// one of an older version than our last would be refused.
	if !unseen.any() {
		err = c.writeStatus(ctx, rs, status)
	}
	if unseen.any() || outcome.Done > 0 || c.inflight.awaits(key) {
		lookAgain = worker.Sooner(lookAgain, catchUp)
	}
	err = errors.Join(failure(plan, outcome), err)
	if err == nil && (unseen.any() || plan.Wait > 0) {
		err = worker.ErrPutOff
	}
	return lookAgain, err
}

// failure is the error of a plan that was not carried out, for the log.
func failure(plan scale.Plan, outcome scale.Outcome) error {
	cause := errors.Join(outcome.Err, outcome.Retry)
	if cause == nil {
		return nil
	}
	return fmt.Errorf("changing the number of pods (%s): %w", plan.Why, cause)
}

// unseen says which of this loop's own writes for a ReplicaSet the caches do not show.
type unseen struct{ pods, replicaSet bool }

func (u unseen) any() bool { return u.pods || u.replicaSet }

func (c *Controller) unseenWrites(logger klog.Logger, key types.NamespacedName) unseen {
	waiting := unseen{pods: c.inflight.review(key)}
	lags := c.freshness.Behind(key)
	for _, lag := range lags {
		waiting.pods = waiting.pods || lag.Resource == podResource
		waiting.replicaSet = waiting.replicaSet || lag.Resource == replicaSetResource
	}
	if waiting.pods {
		c.metrics.stale.WithLabelValues(corev1.GroupName, podResource).Inc()
	}
	if waiting.replicaSet {
		c.metrics.stale.WithLabelValues(appsv1.GroupName, replicaSetResource).Inc()
	}
	if waiting.any() {
		c.metrics.Waits.Inc()
		logger.V(4).Info("Waiting for the caches to show our own writes", "lag", lags)
	}
	return waiting
}

func keyOf(rs *appsv1.ReplicaSet) types.NamespacedName {
	return types.NamespacedName{Namespace: rs.Namespace, Name: rs.Name}
}
