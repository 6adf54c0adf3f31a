package replicaset

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/freshness"
	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/replicaset/scale"
)

// nameAttempts is how many names are tried for one Pod, as the API server does for a
// generateName. Names that are taken are rare: one in ten million is by chance.
const nameAttempts = 8

// apply carries out a plan. No request is begun once the context has ended, but one that is
// under way is left to finish: breaking it off would only leave its outcome unknown.
func (c *Controller) apply(ctx context.Context, s scale.Snapshot, plan scale.Plan) scale.Outcome {
	rs := s.ReplicaSet
	if rs.DeletionTimestamp != nil {
		return scale.Outcome{}
	}
	if unanswered := c.inflight.deletesToRepeat(rs, s.Now); len(unanswered) > 0 {
		return c.resolveDeletes(ctx, s, unanswered)
	}
	switch {
	case plan.Create > 0 && c.inflight.mayCreate(rs):
		return c.createPods(ctx, rs, plan)
	case len(plan.Delete) > 0:
		c.metrics.observeChoice(s, plan)
		return c.deletePods(ctx, rs, plan.Delete, plan.Why)
	}
	return scale.Outcome{}
}

// createPods creates Pods until there are enough or one is refused. The refusals of one sync
// have one cause nearly always, so only the first is told.
func (c *Controller) createPods(ctx context.Context, rs *appsv1.ReplicaSet, plan scale.Plan) scale.Outcome {
	names := c.inflight.names(rs, plan.Create)
	created, err := c.creating().run(ctx, len(names), func(slot int) (bool, error) {
		return c.createPod(ctx, rs, names[slot])
	})
	if created > 0 {
		c.metrics.created.Add(float64(created))
		klog.FromContext(ctx).V(2).Info("Created pods", "count", created, "reason", plan.Why)
	}
	switch {
	case err == nil:
		c.refusals.Forget(keyOf(rs))
		return scale.Outcome{Done: created}
	case transient(err):
		return scale.Outcome{Done: created, Retry: err}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		c.inflight.namespaceGoing(rs)
	default:
		c.refusals.refused(rs, c.clock)
		c.record(rs, createFailed(err))
	}
	return scale.Outcome{Done: created, Err: err}
}

// createPod creates one Pod, under the given name unless that turns out to be another's.
func (c *Controller) createPod(ctx context.Context, rs *appsv1.ReplicaSet, name string) (created bool, err error) {
	for range nameAttempts {
		c.inflight.creating(rs, name)
		var pod *corev1.Pod
		pod, err = c.client.CoreV1().Pods(rs.Namespace).Create(context.WithoutCancel(ctx), newPod(rs, name), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			pod, err = c.findPod(ctx, rs, name)
		}
		switch {
		case err == nil:
			c.inflight.taken(rs, name)
			c.freshness.Wrote(keyOf(rs), podResource, pod.ResourceVersion)
			c.podCreated(rs, pod.Name)
			klog.FromContext(ctx).V(4).Info("Created a pod", "pod", klog.KObj(pod))
			return true, nil
		case !errors.Is(err, errAnothers) || ctx.Err() != nil:
			return false, err
		}
		c.inflight.taken(rs, name)
		name = c.inflight.newName(rs)
	}
	return false, err
}

var errAnothers = errors.New("the name is another pod's")

// findPod returns the ReplicaSet's own Pod of the given name, or errAnothers if there is none.
// A create that was answered AlreadyExists may have found such a one: an earlier create
// was carried out although its answer was lost. It asks the API server, because the cache may
// not show that Pod yet; by a list, because the built-in role of this loop may not get Pods.
func (c *Controller) findPod(ctx context.Context, rs *appsv1.ReplicaSet, name string) (*corev1.Pod, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := c.client.CoreV1().Pods(rs.Namespace).List(context.WithoutCancel(ctx), metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("looking up pod %s: %w", name, err)
	}
	for i := range found.Items {
		if pod := &found.Items[i]; pod.Name == name && metav1.IsControlledBy(pod, rs) {
			return pod, nil
		}
	}
	return nil, errAnothers
}

// resolveDeletes deals with deletes that were not answered, or by an error that leaves open
// what became of them. Those still wanted are asked for again; otherwise the API server is
// asked whether the Pod is there unchanged, and then the delete has not happened and
// the ReplicaSet goes on with it.
func (c *Controller) resolveDeletes(ctx context.Context, s scale.Snapshot, unanswered []*corev1.Pod) scale.Outcome {
	// Those that were answered, and that the cache does not show yet, are among its surplus.
	made := c.inflight.deletes(s.ReplicaSet) - len(unanswered)
	if surplus := s.Surplus() - made; surplus > 0 {
		return c.deletePods(ctx, s.ReplicaSet, unanswered[:min(surplus, len(unanswered))], "the API server did not say what became of an earlier delete")
	}
	for _, pod := range unanswered {
		live, err := c.findPod(ctx, s.ReplicaSet, pod.Name)
		switch {
		case errors.Is(err, errAnothers):
			// It is gone, or not ours any more: the cache will show it.
		case err != nil:
			return scale.Outcome{Retry: err}
		case live.ResourceVersion == pod.ResourceVersion:
			c.inflight.notDeleted(s.ReplicaSet, pod)
		}
	}
	return scale.Outcome{}
}

// deletePods deletes Pods until they are gone or one may not be deleted.
func (c *Controller) deletePods(ctx context.Context, rs *appsv1.ReplicaSet, victims []*corev1.Pod, why string) scale.Outcome {
	deleted, err := c.deleting().run(ctx, len(victims), func(slot int) (bool, error) {
		return c.deletePod(ctx, rs, victims[slot])
	})
	if deleted > 0 {
		c.metrics.deleted.Add(float64(deleted))
		klog.FromContext(ctx).V(2).Info("Deleted pods", "count", deleted, "reason", why)
	}
	if err != nil {
		c.record(rs, deleteFailed(err))
	}
	return scale.Outcome{Done: deleted, Err: err}
}

// deletePod deletes one Pod, if it is still the one that was chosen, unchanged: it may have
// been released or replaced since. A Pod that is gone or has changed is no error; the
// next sync looks at it again once the cache shows what became of it.
func (c *Controller) deletePod(ctx context.Context, rs *appsv1.ReplicaSet, pod *corev1.Pod) (deleted bool, err error) {
	logger := klog.FromContext(ctx).WithValues("pod", klog.KObj(pod))
	c.inflight.deleting(rs, pod)
	err = c.client.CoreV1().Pods(pod.Namespace).Delete(context.WithoutCancel(ctx), pod.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion},
	})
	switch {
	case err == nil:
		c.podDeleted(rs, pod.Name)
		logger.V(4).Info("Deleted a pod")
		return true, nil
	case apierrors.IsNotFound(err):
		logger.V(4).Info("Did not delete a pod, it is gone", "err", err)
		return false, nil
	case apierrors.IsConflict(err):
		c.inflight.changed(rs, pod, c.clock.Now())
		logger.V(4).Info("Did not delete a pod, it has changed", "err", err)
		return false, nil
	case freshness.Refused(err):
		c.inflight.notDeleted(rs, pod)
	default:
		c.inflight.unanswered(rs, pod)
	}
	return false, err
}

// transient reports whether a create failed for a reason that says nothing about the
// template: another writer was faster, names ran out by chance, or this process is being
// stopped. It is retried, not told.
func transient(err error) bool {
	return apierrors.IsConflict(err) || errors.Is(err, errAnothers) || errors.Is(err, context.Canceled)
}

// settleOwnership adopts and releases Pods. It returns after what time to look at the
// ReplicaSet again if no event does.
func (c *Controller) settleOwnership(ctx context.Context, rs *appsv1.ReplicaSet, claim ownership.Claim[*corev1.Pod]) (time.Duration, error) {
	owner := ownership.Owner[*corev1.Pod]{
		Object: rs,
		Kind:   kind,
		Live: func(ctx context.Context) (metav1.Object, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return c.client.AppsV1().ReplicaSets(rs.Namespace).Get(context.WithoutCancel(ctx), rs.Name, metav1.GetOptions{})
		},
		Patch: func(ctx context.Context, pod *corev1.Pod, patch []byte) (*corev1.Pod, error) {
			return c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		},
	}
	written, err := owner.Settle(ctx, claim)
	logger := klog.FromContext(ctx)
	for _, pod := range written {
		c.freshness.Wrote(keyOf(rs), podResource, pod.ResourceVersion)
		if metav1.IsControlledBy(pod, rs) {
			logger.V(2).Info("Adopted a pod", "pod", klog.KObj(pod), "reason", "nobody controlled it and the selector matches it")
		} else {
			logger.V(2).Info("Released a pod", "pod", klog.KObj(pod), "reason", "the selector no longer matches it")
		}
	}
	if err != nil {
		return 0, err // the retry comes earlier, or later if this goes on
	}
	return catchUp, nil
}
