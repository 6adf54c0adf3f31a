package deployment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/ownership"
)

// observe reads the caches and returns all that a decision about the Deployment depends
// on. It returns nil when there is nothing to decide, and after what time to look again
// in that case: the selector selects nothing, or ReplicaSets had to be adopted or
// released first.
func (c *Controller) observe(ctx context.Context, d *appsv1.Deployment) (*rollout.Snapshot, time.Duration, error) {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Selector cannot be used, Deployment is left alone until it changes")
		return nil, 0, nil
	}
	if selector.Empty() {
		return nil, 0, c.refuseEmptySelector(ctx, d)
	}
	sets, settled, err := c.claim(ctx, d, selector)
	if err != nil {
		return nil, 0, err
	}
	if !settled {
		return nil, catchUp, nil
	}
	return &rollout.Snapshot{
		Deployment:  d,
		ReplicaSets: sets,
		Pods:        c.podsOf(d, sets),
		Now:         c.clock.Now(),
	}, 0, nil
}

// claim returns the ReplicaSets that the Deployment controls. If some have to be adopted or
// released first, it does that and reports that the claim is not settled: what the
// caches say is then of the past, and the watch event of that write wakes the
// Deployment again.
func (c *Controller) claim(ctx context.Context, d *appsv1.Deployment, selector labels.Selector) (sets []*appsv1.ReplicaSet, settled bool, err error) {
	candidates := append(
		ownership.Owned[*appsv1.ReplicaSet](c.rsIndexer, d.UID),
		ownership.Orphans[*appsv1.ReplicaSet](c.rsIndexer, d.Namespace)...,
	)
	claim := ownership.Sort(d, selector, candidates)
	if claim.Settled() {
		return claim.Keep, true, nil
	}
	owner := ownership.Owner[*appsv1.ReplicaSet]{
		Object: d,
		Kind:   rollout.Kind,
		Live: func(ctx context.Context) (metav1.Object, error) {
			return c.client.AppsV1().Deployments(d.Namespace).Get(ctx, d.Name, metav1.GetOptions{})
		},
		Patch: func(ctx context.Context, rs *appsv1.ReplicaSet, patch []byte) (*appsv1.ReplicaSet, error) {
			return c.client.AppsV1().ReplicaSets(rs.Namespace).Patch(ctx, rs.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		},
	}
	written, err := owner.Settle(ctx, claim)
	for _, rs := range written {
		c.freshness.Wrote(keyOf(d), "replicasets", rs.ResourceVersion)
		klog.FromContext(ctx).V(2).Info("Settled who controls a ReplicaSet", "replicaSet", klog.KObj(rs),
			"controlled", metav1.IsControlledBy(rs, d))
	}
	return nil, false, err
}

// podsOf returns the Pods of the ReplicaSets, for the one strategy that asks about them.
func (c *Controller) podsOf(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) map[types.UID][]*corev1.Pod {
	if d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return nil
	}
	pods := make(map[types.UID][]*corev1.Pod, len(sets))
	for _, rs := range sets {
		pods[rs.UID] = ownership.Owned[*corev1.Pod](c.podIndexer, rs.UID)
	}
	return pods
}
