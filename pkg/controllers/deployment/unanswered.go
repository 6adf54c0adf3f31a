package deployment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/freshness"
)

// unanswered remembers the ReplicaSets whose last write ended without an answer: nobody knows
// whether they have been created, or resized. A decision that did not count them could ask
// for more Pods than maxSurge allows. It is safe for concurrent use; the zero value
// is ready for use.
type unanswered struct {
	mu    sync.Mutex
	names map[types.NamespacedName]map[string]bool // by Deployment
}

// note remembers a write that ended with the error, if that leaves open what became of it.
func (u *unanswered) note(key types.NamespacedName, name string, err error) {
	if freshness.Refused(err) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		u.names = map[types.NamespacedName]map[string]bool{}
	}
	if u.names[key] == nil {
		u.names[key] = map[string]bool{}
	}
	u.names[key][name] = true
}

// of returns the names that are open for a Deployment, in order.
func (u *unanswered) of(key types.NamespacedName) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.names[key]))
}

// forget drops what is open for a Deployment.
func (u *unanswered) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.names, key)
}

// lookUp asks the API server what became of the writes that were not answered, and has the sync
// wait until the cache has read as far.
func (c *Controller) lookUp(ctx context.Context, key types.NamespacedName) error {
	for _, name := range c.unanswered.of(key) {
		live, err := c.client.AppsV1().ReplicaSets(key.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			c.freshness.Wrote(key, replicaSetResource, live.ResourceVersion)
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("reading ReplicaSet %s, whose last write was not answered: %w", name, err)
		}
	}
	c.unanswered.forget(key)
	return nil
}
