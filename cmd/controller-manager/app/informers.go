package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/pods"
)

// watchComplaintEvery is the shortest time between two log lines about a resource that
// cannot be watched. It is tried every second at first.
const watchComplaintEvery = 10 * time.Second

// caches are the objects in the cluster that the loops look at. They are kept from the
// start of the process, so that a standby can act at once.
type caches struct {
	factory informers.SharedInformerFactory
	named   []namedInformer
}

type namedInformer struct {
	name     string
	informer cache.SharedIndexInformer
}

// newCaches returns empty caches. Each state of an object is shown to look on its way in, as
// the API server has sent it.
func newCaches(client kubernetes.Interface, minResync time.Duration, look func(metav1.Object)) (*caches, error) {
	c := &caches{factory: informers.NewSharedInformerFactory(client, resyncPeriod(minResync))}
	c.named = []namedInformer{
		{"deployments", c.factory.Apps().V1().Deployments().Informer()},
		{"replicasets", c.factory.Apps().V1().ReplicaSets().Informer()},
		{"pods", c.factory.Core().V1().Pods().Informer()},
	}
	owned := func(name string) bool { return name != "deployments" }
	for _, n := range c.named {
		err := n.informer.SetTransform(trim(look))
		if err == nil {
			err = n.informer.SetWatchErrorHandlerWithContext(watchErrorHandler(n.name))
		}
		if err == nil && owned(n.name) {
			err = n.informer.AddIndexers(ownership.Indexers())
		}
		if err != nil {
			return nil, fmt.Errorf("setting up the cache of %s: %w", n.name, err)
		}
	}
	return c, nil
}

// resyncPeriod spreads the resyncs of several processes: a random time between the
// shortest and twice that.
func resyncPeriod(shortest time.Duration) time.Duration {
	if shortest <= 0 {
		return 0
	}
	return shortest + rand.N(shortest) //nolint:gosec // no secret hangs on it
}

// trim drops what the loops do not read before an object enters the cache, and after it was
// looked at.
func trim(look func(metav1.Object)) cache.TransformFunc {
	return func(object any) (any, error) {
		meta, ok := object.(metav1.Object)
		if !ok {
			return object, nil
		}
		look(meta)
		if pod, ok := object.(*corev1.Pod); ok {
			return pods.Trim(pod), nil
		}
		meta.SetManagedFields(nil) // in place: nobody else has the object yet
		return object, nil
	}
}

// start begins to fill the caches. They are kept up to date until ctx ends.
func (c *caches) start(ctx context.Context) {
	// What client-go has to say about each cache is of use only in the detailed log.
	c.factory.StartWithContext(klog.NewContext(ctx, klog.FromContext(ctx).V(2)))
}

// await returns when the caches are filled, or when ctx has ended, and then with an error.
func (c *caches) await(ctx context.Context) error {
	begun := time.Now()
	if err := c.factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}
	facts := []any{"took", time.Since(begun).Round(time.Millisecond)}
	for _, n := range c.named {
		facts = append(facts, n.name, len(n.informer.GetStore().ListKeys()))
	}
	klog.FromContext(ctx).Info("Caches are filled", facts...)
	return nil
}

// stop returns when the caches have ended, after the context they were started with.
func (c *caches) stop() { c.factory.Shutdown() }

// check returns an error that names the caches that are not filled yet.
func (c *caches) check() error {
	var missing []string
	for _, n := range c.named {
		if !n.informer.HasSynced() {
			missing = append(missing, n.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("not filled yet: %s", strings.Join(missing, ", "))
	}
	return nil
}

// watchErrorHandler logs why a resource cannot be listed or watched, now and then. The
// informer goes on trying.
func watchErrorHandler(resource string) cache.WatchErrorHandlerWithContext {
	complaints := flowcontrol.NewTokenBucketPassiveRateLimiter(float32(1/watchComplaintEvery.Seconds()), 1)
	return func(ctx context.Context, _ *cache.Reflector, err error) {
		logger := klog.FromContext(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, io.EOF), apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			// The API server ends watches from time to time, and forgets old versions.
			logger.V(4).Info("Watch ended, starting a new one", "resource", resource, "err", err)
		case complaints.TryAccept():
			logger.Error(advise(resource, err), "Cannot watch, will retry", "resource", resource)
		}
	}
}
