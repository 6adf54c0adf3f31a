package deployment

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/worker"
)

// apply carries out a plan, in the order of its fields, and stops at the first failure.
// No request is begun once the context has ended, but one that is under way is left to
// finish: breaking it off would only leave its outcome unknown.
func (c *Controller) apply(ctx context.Context, s rollout.Snapshot, plan rollout.Plan) rollout.Outcome {
	var outcome rollout.Outcome
	steps := []func(context.Context, *rollout.Outcome) error{}
	if plan.Rollback != nil {
		steps = append(steps, func(ctx context.Context, _ *rollout.Outcome) error {
			return c.rollback(ctx, s.Deployment, plan.Rollback)
		})
	}
	if plan.Probe != nil {
		steps = append(steps, func(ctx context.Context, o *rollout.Outcome) error {
			return c.probe(ctx, s.Deployment, plan.Probe, o)
		})
	}
	if plan.Create != nil {
		steps = append(steps, func(ctx context.Context, o *rollout.Outcome) error {
			return c.create(ctx, s.Deployment, plan.Create, o)
		})
	}
	for _, change := range plan.Change {
		steps = append(steps, func(ctx context.Context, o *rollout.Outcome) error { return c.change(ctx, s.Deployment, change, o) })
	}
	for _, deletion := range plan.Delete {
		steps = append(steps, func(ctx context.Context, _ *rollout.Outcome) error { return c.delete(ctx, deletion) })
	}
	for _, step := range steps {
		if outcome.Err = ctx.Err(); outcome.Err != nil {
			return outcome
		}
		if outcome.Err = step(context.WithoutCancel(ctx), &outcome); outcome.Err != nil || outcome.Collision || outcome.LookAgain > 0 {
			return outcome
		}
	}
	return outcome
}

// create makes the new ReplicaSet. Its name follows from the template, so one that exists
// already is either ours, from a create whose answer was lost, or a collision.
//
// A create that was refused a moment ago is held back: the status in which that was
// reported wakes the Deployment at once.
func (c *Controller) create(ctx context.Context, d *appsv1.Deployment, creation *rollout.Creation, outcome *rollout.Outcome) error {
	logger := klog.FromContext(ctx)
	wanted := creation.ReplicaSet
	if outcome.Held = c.creates.Left(d, c.clock.Now()) > 0; outcome.Held {
		return worker.ErrPutOff
	}
	created, err := c.client.AppsV1().ReplicaSets(wanted.Namespace).Create(ctx, wanted, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return c.found(ctx, d, wanted.Name, outcome)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Errorf("creating ReplicaSet %s: %w", wanted.Name, err)
	case err != nil:
		outcome.CreateErr = err
		c.unanswered.note(keyOf(d), wanted.Name, err)
		c.creates.Refused(d, c.clock.Now())
		c.record(d, createFailed(wanted.Name, err))
		return fmt.Errorf("creating ReplicaSet %s: %w", wanted.Name, err)
	}
	c.freshness.Wrote(keyOf(d), replicaSetResource, created.ResourceVersion)
	c.cameOut(ctx, d, wanted, created)
	outcome.New, outcome.Created = created, true
	logger.V(2).Info("Created ReplicaSet", "replicaSet", klog.KObj(created), "replicas", *created.Spec.Replicas,
		"revision", created.Annotations[rollout.RevisionAnnotation], "reason", creation.Why)
	if *created.Spec.Replicas > 0 {
		c.stepped(d, step{created.Name, 0, int64(*created.Spec.Replicas)})
	}
	return nil
}

// found looks at a ReplicaSet that has the name of the one to create. It asks the API
// server, since the cache may not have heard of it yet.
func (c *Controller) found(ctx context.Context, d *appsv1.Deployment, name string, outcome *rollout.Outcome) error {
	existing, err := c.client.AppsV1().ReplicaSets(d.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading ReplicaSet %s, which exists already: %w", name, err)
	}
	if rollout.IsNewReplicaSet(d, existing) {
		c.freshness.Wrote(keyOf(d), replicaSetResource, existing.ResourceVersion)
		outcome.New = existing
		return nil
	}
	if metav1.IsControlledBy(existing, d) {
		// The next decision is made on it, once the cache shows it.
		c.freshness.Wrote(keyOf(d), replicaSetResource, existing.ResourceVersion)
		outcome.LookAgain = catchUp
		return nil
	}
	outcome.Collision = true
	klog.FromContext(ctx).V(2).Info("Name of the new ReplicaSet is taken, another one will be tried", "replicaSet", klog.KObj(existing))
	return nil
}

// change resizes or annotates a ReplicaSet by a merge patch, which leaves fields alone
// that our types do not know. The resourceVersion in it makes the API server refuse
// the patch if the ReplicaSet is no longer what the decision was made on.
func (c *Controller) change(ctx context.Context, d *appsv1.Deployment, change rollout.ReplicaSetChange, outcome *rollout.Outcome) error {
	observed := change.Observed
	written, err := c.client.AppsV1().ReplicaSets(observed.Namespace).
		Patch(ctx, observed.Name, types.MergePatchType, mergePatch(change), metav1.PatchOptions{})
	if err != nil {
		c.unanswered.note(keyOf(d), observed.Name, err)
		return fmt.Errorf("changing ReplicaSet %s: %w", observed.Name, err)
	}
	c.freshness.Wrote(keyOf(d), replicaSetResource, written.ResourceVersion)
	outcome.Written = append(outcome.Written, written)
	logger := klog.FromContext(ctx).WithValues("replicaSet", klog.KObj(written))
	if from, to, resizes := change.Resizes(); resizes {
		logger.V(2).Info("Scaled ReplicaSet", "from", from, "to", to, "reason", change.Why)
		c.stepped(d, step{observed.Name, from, to})
	} else {
		logger.V(2).Info("Updated ReplicaSet", "revision", written.Annotations[rollout.RevisionAnnotation], "reason", change.Why)
	}
	return nil
}

// mergePatch encodes what differs between the two sides of a change.
func mergePatch(change rollout.ReplicaSetChange) []byte {
	annotations := map[string]string{}
	for key, value := range change.Desired.Annotations {
		if old, had := change.Observed.Annotations[key]; !had || old != value {
			annotations[key] = value
		}
	}
	spec := map[string]any{}
	if _, to, resizes := change.Resizes(); resizes {
		spec["replicas"] = to
	}
	if change.Desired.Spec.MinReadySeconds != change.Observed.Spec.MinReadySeconds {
		spec["minReadySeconds"] = change.Desired.Spec.MinReadySeconds
	}
	metadata := map[string]any{"uid": change.Observed.UID, "resourceVersion": change.Observed.ResourceVersion}
	patch := map[string]any{"metadata": metadata}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if len(spec) > 0 {
		patch["spec"] = spec
	}
	encoded, err := json.Marshal(patch)
	if err != nil {
		panic(fmt.Sprintf("encoding a merge patch: %v", err)) // strings and integers always encode
	}
	return encoded
}

// delete removes a ReplicaSet of a revision that is not kept, if it is still the one that
// was looked at.
func (c *Controller) delete(ctx context.Context, deletion rollout.Deletion) error {
	rs := deletion.ReplicaSet
	err := c.client.AppsV1().ReplicaSets(rs.Namespace).Delete(ctx, rs.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &rs.UID, ResourceVersion: &rs.ResourceVersion},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting ReplicaSet %s: %w", rs.Name, err)
	}
	klog.FromContext(ctx).V(2).Info("Deleted old ReplicaSet", "replicaSet", klog.KObj(rs),
		"revision", rs.Annotations[rollout.RevisionAnnotation], "reason", deletion.Why)
	return nil
}

// rollback writes the Deployment as a rollback wants it.
func (c *Controller) rollback(ctx context.Context, d *appsv1.Deployment, rollback *rollout.Rollback) error {
	written, err := c.client.AppsV1().Deployments(d.Namespace).Update(ctx, rollback.Desired, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("rolling back: %w", err)
	}
	c.freshness.Wrote(keyOf(d), deploymentResource, written.ResourceVersion)
	event := rollbackEnded(d.Name, rollback)
	c.record(d, event)
	klog.FromContext(ctx).V(2).Info("Handled a rollback request", "revision", rollback.Revision, "reason", event.message)
	return nil
}

// settleOwnership adopts and releases ReplicaSets.
func (c *Controller) settleOwnership(ctx context.Context, d *appsv1.Deployment, claim ownership.Claim[*appsv1.ReplicaSet]) error {
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
		c.freshness.Wrote(keyOf(d), replicaSetResource, rs.ResourceVersion)
		logger := klog.FromContext(ctx).WithValues("replicaSet", klog.KObj(rs))
		if metav1.IsControlledBy(rs, d) {
			logger.V(2).Info("Adopted ReplicaSet", "reason", "nobody controlled it and the selector matches it")
		} else {
			logger.V(2).Info("Released ReplicaSet", "reason", "the selector no longer matches it")
		}
	}
	return err
}
