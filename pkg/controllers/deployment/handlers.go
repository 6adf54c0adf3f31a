package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/watched"
)

// deploymentHandler wakes a Deployment whenever it changes, and at each resync.
func (c *Controller) deploymentHandler() cache.ResourceEventHandler {
	return watched.Handler(func(old, current *appsv1.Deployment) {
		if current == nil {
			current = old
		}
		c.queue.Add(keyOf(current))
	})
}

// replicaSetHandler wakes the Deployment that controls a changed ReplicaSet, and the one
// that did before. A ReplicaSet that nobody controls wakes those that may adopt it.
func (c *Controller) replicaSetHandler() cache.ResourceEventHandler {
	return watched.Handler(func(old, current *appsv1.ReplicaSet) {
		if old != nil && current != nil && old.ResourceVersion == current.ResourceVersion {
			return // a resync: the Deployments have their own
		}
		wasControlled := controllerOf(old)
		isControlled := controllerOf(current)
		if wasControlled != nil && (isControlled == nil || wasControlled.UID != isControlled.UID) {
			c.wakeOwner(old.Namespace, wasControlled)
		}
		switch {
		case isControlled != nil:
			c.wakeOwner(current.Namespace, isControlled)
		case current != nil && (old == nil || wasControlled != nil || !apiequality.Semantic.DeepEqual(old.Labels, current.Labels)):
			c.wakeAdopters(current)
		}
	})
}

// podHandler wakes a Recreate Deployment when one of its Pods has stopped for good, or is not its
// own any more: it may be the last one that the rollout waits for.
func (c *Controller) podHandler() cache.ResourceEventHandler {
	return watched.Handler(func(old, current *corev1.Pod) {
		if old == nil || !pods.Stopped(old, current) && ownership.ControllerUID(old) == ownership.ControllerUID(current) {
			return
		}
		if d := c.deploymentOf(old); d != nil && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
			c.queue.Add(keyOf(d))
		}
	})
}

// deploymentOf returns the Deployment that controls the ReplicaSet that controls the Pod.
func (c *Controller) deploymentOf(pod *corev1.Pod) *appsv1.Deployment {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return nil
	}
	rs, err := c.replicaSets.ReplicaSets(pod.Namespace).Get(controller.Name)
	if err != nil || rs.UID != controller.UID {
		return nil
	}
	return c.owner(rs.Namespace, metav1.GetControllerOfNoCopy(rs))
}

// owner returns the Deployment that a controller reference names. The name alone is not
// enough: the Deployment may have been deleted and made again.
func (c *Controller) owner(namespace string, reference *metav1.OwnerReference) *appsv1.Deployment {
	if reference == nil || reference.Kind != rollout.Kind.Kind {
		return nil
	}
	d, err := c.deployments.Deployments(namespace).Get(reference.Name)
	if err != nil || d.UID != reference.UID {
		return nil
	}
	return d
}

func (c *Controller) wakeOwner(namespace string, reference *metav1.OwnerReference) {
	if d := c.owner(namespace, reference); d != nil {
		c.queue.Add(keyOf(d))
	}
}

// wakeAdopters wakes the Deployments whose selector matches a ReplicaSet without a
// controller. There should be one at most; ownership keeps two from sharing it, and an
// empty selector from taking everything.
func (c *Controller) wakeAdopters(rs *appsv1.ReplicaSet) {
	candidates, err := c.deployments.Deployments(rs.Namespace).List(labels.Everything())
	if err != nil {
		return // a lister over a cache does not fail
	}
	for _, d := range candidates {
		selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(rs.Labels)) {
			c.queue.Add(keyOf(d))
		}
	}
}

// controllerOf returns the controller reference of a ReplicaSet, if there is one.
func controllerOf(rs *appsv1.ReplicaSet) *metav1.OwnerReference {
	if rs == nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(rs)
}
