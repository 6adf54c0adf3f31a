package replicaset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// writeStatus writes the status if it has changed.
func (c *Controller) writeStatus(ctx context.Context, rs *appsv1.ReplicaSet, status appsv1.ReplicaSetStatus) error {
	if c.sameStatus(rs.Status, status) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	desired := rs.DeepCopy() // encoding writes to quantities, and the cache is not ours to write to
	desired.Status = status
	written, err := c.client.AppsV1().ReplicaSets(rs.Namespace).UpdateStatus(context.WithoutCancel(ctx), desired, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	c.freshness.Wrote(keyOf(rs), replicaSetResource, written.ResourceVersion)
	c.terminatingCount.Wrote(status.TerminatingReplicas, written.Status.TerminatingReplicas)
	klog.FromContext(ctx).V(4).Info("Wrote status", "replicas", status.Replicas, "ready", status.ReadyReplicas,
		"available", status.AvailableReplicas, "observedGeneration", status.ObservedGeneration)
	return nil
}

// sameStatus reports whether a status need not be written.
func (c *Controller) sameStatus(reported, status appsv1.ReplicaSetStatus) bool {
	status.TerminatingReplicas = c.terminatingCount.ToCompare(reported.TerminatingReplicas, status.TerminatingReplicas)
	return apiequality.Semantic.DeepEqual(reported, status)
}

// leaveAlone says, once for each generation, that the ReplicaSet cannot be worked on. The
// observedGeneration in its status notes that this was said. No retry can help before
// somebody changes it, and that wakes it.
func (c *Controller) leaveAlone(ctx context.Context, rs *appsv1.ReplicaSet, cause error) error {
	if rs.Status.ObservedGeneration >= rs.Generation {
		return nil
	}
	klog.FromContext(ctx).Error(cause, "Selector cannot be used, ReplicaSet is left alone until it changes")
	status := rs.Status
	status.ObservedGeneration = rs.Generation
	return c.writeStatus(ctx, rs, status)
}
