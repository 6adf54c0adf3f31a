package deployment

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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
	"controller-manager/pkg/controllers/worker"
)

// catchUp is how soon a Deployment is looked at again whose last writes the caches have
// not seen yet. The watch event that brings them wakes it earlier; this is for the
// case that no such event concerns it.
const catchUp = time.Second

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

	queue     worker.Queue
	freshness *freshness.Tracker
	metrics   *metrics

	// noTerminatingCount is set once the API server has dropped terminatingReplicas from
	// a status we wrote: it is older than the field, and asking again is no use.
	noTerminatingCount atomic.Bool
}

// New returns the loop. It adds event handlers to the informers, so it must be called
// before they start.
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
		queue:       worker.NewQueue("deployment"),
		freshness: freshness.NewTracker(map[string]freshness.Store{
			"deployments": deployments.Informer().GetStore(),
			"replicasets": replicaSets.Informer().GetStore(),
		}),
	}
	var err error
	if c.metrics, err = newMetrics(config.Metrics); err != nil {
		return nil, fmt.Errorf("registering the metrics of the Deployment loop: %w", err)
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		deployments.Informer(): c.deploymentHandler(),
		replicaSets.Informer(): c.replicaSetHandler(),
		pods.Informer():        c.podHandler(),
	} {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("adding an event handler of the Deployment loop: %w", err)
		}
		c.synced = append(c.synced, registration.HasSynced)
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
	pool := worker.Pool{Kind: "deployment", Queue: c.queue, Sync: c.sync, Panicked: c.metrics.panics.Inc}
	pool.Run(ctx, workers)
	logger.V(2).Info("Deployment loop stopped")
}

// sync brings one Deployment one step further: observe → Decide → apply → Status.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	logger := klog.FromContext(ctx)
	if lags := c.freshness.Behind(key); len(lags) > 0 {
		c.metrics.waits.Inc()
		logger.V(4).Info("Waiting for the caches to show our own writes", "lag", lags)
		return catchUp, nil
	}
	deployment, err := c.deployments.Deployments(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.freshness.Forget(key)
		logger.V(4).Info("Deployment is gone")
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the cache: %w", err)
	}
	snapshot, lookAgain, err := c.observe(ctx, deployment)
	if snapshot == nil {
		return lookAgain, err
	}
	plan, err := rollout.Decide(*snapshot)
	if err != nil {
		// No retry can help before somebody changes the Deployment, and that wakes it.
		logger.Error(err, "Deployment is left alone until it changes")
		return 0, nil
	}
	c.logPlan(logger, plan)
	outcome := c.apply(ctx, *snapshot, plan)
	if plan.Rollback != nil {
		return 0, outcome.Err // the Deployment itself has changed: the next sync sees what to report
	}
	var status appsv1.DeploymentStatus
	status, lookAgain = rollout.Status(*snapshot, plan, outcome)
	statusErr := c.writeStatus(ctx, deployment, status, rollout.Revision(*snapshot, outcome))
	return lookAgain, errors.Join(outcome.Err, statusErr)
}

func (c *Controller) logPlan(logger klog.Logger, plan rollout.Plan) {
	if plan.Note != "" {
		logger.V(4).Info("Decided", "reason", plan.Note)
	}
	for _, remark := range plan.Remarks {
		// Said when something is done anyway: it would be repeated with each sync.
		if !plan.Empty() {
			logger.V(2).Info("Ignored a bad annotation", "reason", remark)
		}
	}
}

func keyOf(d *appsv1.Deployment) types.NamespacedName {
	return types.NamespacedName{Namespace: d.Namespace, Name: d.Name}
}
