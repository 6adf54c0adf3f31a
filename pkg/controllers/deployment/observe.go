package deployment

import (
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/ownership"
)

var errEmptySelector = errors.New("the selector is empty; give spec.selector at least one label")

// usableSelector returns the Deployment's selector, or why it cannot be used. The API server
// refuses both kinds nowadays, so they are seen only in objects that are older.
func usableSelector(d *appsv1.Deployment) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err == nil && selector.Empty() {
		err = errEmptySelector
	}
	return selector, err
}

// claim reads from the cache the ReplicaSets that the Deployment controls, and those that it
// could adopt.
func (c *Controller) claim(d *appsv1.Deployment, selector labels.Selector) ownership.Claim[*appsv1.ReplicaSet] {
	return ownership.Sort(d, selector, append(
		ownership.Owned[*appsv1.ReplicaSet](c.rsIndexer, d.Namespace, d.UID),
		ownership.Orphans[*appsv1.ReplicaSet](c.rsIndexer, d.Namespace)...,
	))
}

// observe returns all that a decision about the Deployment depends on.
func (c *Controller) observe(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) rollout.Snapshot {
	now := c.clock.Now()
	return rollout.Snapshot{Deployment: d, ReplicaSets: sets, Pods: c.podsOf(d, sets, now), Now: now}
}

// podsOf returns the Pods of the ReplicaSets, for the one strategy that asks about them, and those
// of the new one where it is to be said what keeps them. A rollout that gets on reads none.
func (c *Controller) podsOf(d *appsv1.Deployment, sets []*appsv1.ReplicaSet, now time.Time) map[types.UID][]*corev1.Pod {
	recreates, overdue := d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType, rollout.IsOverdue(d, now)
	if !recreates && !overdue {
		return nil
	}
	pods := make(map[types.UID][]*corev1.Pod, len(sets))
	for _, rs := range sets {
		if recreates || rollout.IsNewReplicaSet(d, rs) {
			pods[rs.UID] = ownership.Owned[*corev1.Pod](c.podIndexer, rs.Namespace, rs.UID)
		}
	}
	return pods
}
