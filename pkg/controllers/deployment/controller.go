package deployment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/freshness"
	"controller-manager/pkg/controllers/skew"
	"controller-manager/pkg/controllers/telling"
	"controller-manager/pkg/controllers/watched"
	"controller-manager/pkg/controllers/worker"
)

// catchUp is how soon a Deployment is looked at again whose last writes the caches have
// not seen yet. The watch event that brings them wakes it earlier; this is for the
// case that no such event concerns it.
const catchUp = time.Second

// The resources whose caches have to show this loop's own writes.
const (
	deploymentResource = "deployments"
	replicaSetResource = "replicasets"
)

// Config is what the loop needs from the process around it.
type Config struct {
	// Client makes this loop's writes and live reads.
	Client kubernetes.Interface
	// Events records events with the source component "deployment-controller".
	Events record.EventRecorder
	// Informers is the process's factory. Its ReplicaSet and Pod informers carry
	// ownership.Indexers.
	Informers informers.SharedInformerFactory
	Clock     clock.PassiveClock
	Metrics   prometheus.Registerer
	// Queue holds the keys of Deployments to sync; nil for one of package worker.
	Queue worker.Queue
}

// Controller is the Deployment loop.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock

	deployments appslisters.DeploymentLister
	replicaSets appslisters.ReplicaSetLister
	rsIndexer   cache.Indexer
	podIndexer  cache.Indexer
	synced      []cache.InformerSynced

	queue      worker.Queue
	pool       *worker.Pool
	freshness  *freshness.Tracker
	creates    worker.Backoff // of new ReplicaSets that were refused
	probes     worker.Backoff // of dry runs that did not come out as sent
	unanswered unanswered
	remarked   sync.Map // by key, the remarks that were logged last
	steps      *telling.Ledger[*appsv1.Deployment, step]
	metrics    worker.Metrics

	terminatingCount skew.TerminatingCount
}

// New returns the loop, and lets the informers call it. They may have started already.
func New(config Config) (*Controller, error) {
	deployments := config.Informers.Apps().V1().Deployments()
	replicaSets := config.Informers.Apps().V1().ReplicaSets()
	pods := config.Informers.Core().V1().Pods()
	c := &Controller{
		client:      config.Client,
		events:      config.Events,
		clock:       config.Clock,
		deployments: deployments.Lister(),
		replicaSets: replicaSets.Lister(),
		rsIndexer:   replicaSets.Informer().GetIndexer(),
		podIndexer:  pods.Informer().GetIndexer(),
		queue:       config.Queue,
		freshness: freshness.NewTracker(map[string]freshness.Store{
			deploymentResource: deployments.Informer().GetStore(),
			replicaSetResource: replicaSets.Informer().GetStore(),
		}),
	}
	if c.queue == nil {
		c.queue = worker.NewQueue("deployment")
	}
	c.steps = telling.NewLedger(func(d *appsv1.Deployment, s step) { c.record(d, scaled(s)) }, step.then)
	var err error
	if c.metrics, err = newMetrics(config.Metrics, c.deployments); err != nil {
		return nil, fmt.Errorf("registering the metrics of the Deployment loop: %w", err)
	}
	c.pool = &worker.Pool{Kind: "deployment", Queue: c.queue, Sync: c.turn, Panicked: c.metrics.Panics.Inc, Failed: c.metrics.Failures.Inc}
	c.synced, err = watched.Attach(map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		deployments.Informer(): c.deploymentHandler(),
		replicaSets.Informer(): c.replicaSetHandler(),
		pods.Informer():        c.podHandler(),
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the Deployment loop: %w", err)
	}
	return c, nil
}

// Run syncs Deployments with the given number of workers, from when the caches are
// filled until the context ends and each worker has finished its sync.
func (c *Controller) Run(ctx context.Context, workers int) {
	logger := klog.FromContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		c.queue.ShutDown()
		return
	}
	logger.V(2).Info("Deployment loop started", "workers", workers)
	c.pool.Run(ctx, workers)
	c.steps.CloseAll()
	logger.V(2).Info("Deployment loop stopped")
}

// Next syncs the Deployment whose turn it is, as each worker of Run does over and over. It
// is for programs that decide themselves what happens when.
func (c *Controller) Next(ctx context.Context) { c.pool.Next(ctx) }

// turn is a sync, and the telling of steps that have waited for their time.
func (c *Controller) turn(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	lookAgain, err := c.sync(ctx, key)
	return worker.Sooner(lookAgain, c.steps.Due(key, c.clock.Now())), err
}

// sync brings one Deployment one step further: observe → Decide → apply → Status.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	logger := klog.FromContext(ctx)
	if err := c.lookUp(ctx, key); err != nil {
		return 0, err
	}
	if lags := c.freshness.Behind(key); len(lags) > 0 {
		c.metrics.Waits.Inc()
		logger.V(4).Info("Waiting for the caches to show our own writes", "lag", lags)
		return catchUp, worker.ErrPutOff
	}
	deployment, err := c.deployments.Deployments(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.freshness.Forget(key)
		c.creates.Forget(key)
		c.probes.Forget(key)
		c.unanswered.forget(key)
		c.remarked.Delete(key)
		c.steps.Close(key)
		logger.V(4).Info("Deployment is gone")
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the cache: %w", err)
	}
	selector, err := usableSelector(deployment)
	if err != nil {
		return 0, c.leaveAlone(ctx, deployment, err)
	}
	claim := c.claim(deployment, selector)
	if !claim.Settled() {
		// What the caches say is of the past from here on: the sync ends.
		return catchUp, c.settleOwnership(ctx, deployment, claim)
	}
	snapshot := c.observe(deployment, claim.Keep)
	plan, err := rollout.Decide(snapshot)
	if err != nil {
		return 0, c.leaveAlone(ctx, deployment, err)
	}
	c.logPlan(logger, key, plan)
	outcome := c.apply(ctx, snapshot, plan)
	if plan.Rollback != nil {
		return 0, outcome.Err // the Deployment itself has changed: the next sync sees what to report
	}
	report := rollout.Status(snapshot, plan, outcome)
	statusErr := c.writeStatus(ctx, deployment, report.Status, report.Revision)
	if statusErr == nil {
		c.tell(deployment, report)
	}
	if outcome.Held && statusErr == nil {
		// Put off, not failed: nothing else brings the create back when its time has come,
		// which may be this very moment.
		left := max(time.Millisecond, c.creates.Left(deployment, c.clock.Now()))
		return worker.Sooner(report.LookAgain, left), worker.ErrPutOff
	}
	return report.LookAgain, errors.Join(outcome.Err, statusErr)
}

// logPlan says how it was decided, and once what was ignored on the way.
func (c *Controller) logPlan(logger klog.Logger, key types.NamespacedName, plan rollout.Plan) {
	if plan.Note != "" {
		logger.V(4).Info("Decided", "reason", plan.Note)
	}
	remarks := strings.Join(plan.Remarks, "; ")
	if before, _ := c.remarked.Swap(key, remarks); remarks != "" && before != remarks {
		logger.V(2).Info("Ignored bad annotations", "reason", remarks)
	}
}

func keyOf(d *appsv1.Deployment) types.NamespacedName {
	return types.NamespacedName{Namespace: d.Namespace, Name: d.Name}
}
