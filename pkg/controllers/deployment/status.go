package deployment

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// writeStatus writes the status and the Deployment's revision, in one request, if either has
// changed.
func (c *Controller) writeStatus(ctx context.Context, d *appsv1.Deployment, status appsv1.DeploymentStatus, revision string) error {
	sameRevision := revision == "" || d.Annotations[rollout.RevisionAnnotation] == revision
	if sameRevision && c.sameStatus(d.Status, status) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	desired := d.DeepCopy()
	desired.Status = status
	if !sameRevision {
		metav1.SetMetaDataAnnotation(&desired.ObjectMeta, rollout.RevisionAnnotation, revision)
	}
	written, err := c.client.AppsV1().Deployments(d.Namespace).UpdateStatus(context.WithoutCancel(ctx), desired, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	c.freshness.Wrote(keyOf(d), deploymentResource, written.ResourceVersion)
	c.terminatingCount.Wrote(status.TerminatingReplicas, written.Status.TerminatingReplicas)
	klog.FromContext(ctx).V(4).Info("Wrote status", "replicas", status.Replicas, "updated", status.UpdatedReplicas,
		"ready", status.ReadyReplicas, "available", status.AvailableReplicas, "observedGeneration", status.ObservedGeneration)
	return nil
}

// sameStatus reports whether a status need not be written.
func (c *Controller) sameStatus(reported, status appsv1.DeploymentStatus) bool {
	status.TerminatingReplicas = c.terminatingCount.ToCompare(reported.TerminatingReplicas, status.TerminatingReplicas)
	return apiequality.Semantic.DeepEqual(reported, status)
}

// leaveAlone says, once for each generation, that the Deployment cannot be worked on. The
// observedGeneration in its status notes that this was said. No retry can help before
// somebody changes it, and that wakes it.
func (c *Controller) leaveAlone(ctx context.Context, d *appsv1.Deployment, cause error) error {
	if d.Status.ObservedGeneration >= d.Generation {
		return nil
	}
	klog.FromContext(ctx).Error(cause, "Deployment is left alone until it changes")
	if errors.Is(cause, errEmptySelector) {
		c.record(d, selectingAll())
	}
	status := d.Status
	status.ObservedGeneration = d.Generation
	return c.writeStatus(ctx, d, status, "")
}
