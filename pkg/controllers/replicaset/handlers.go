package replicaset

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/watched"
)

// replicaSetHandler wakes a ReplicaSet whenever it changes, and at each resync.
func (c *Controller) replicaSetHandler() cache.ResourceEventHandler {
	return watched.Handler(func(old, current *appsv1.ReplicaSet) {
		if current == nil {
			current = old
		}
		c.queue.Add(keyOf(current))
	})
}

// podHandler wakes the ReplicaSet that controls a changed Pod, and the one that did before.
// A Pod that nobody controls wakes the ReplicaSets that may adopt it. One that goes makes room
// in a quota, whosever it is.
func (c *Controller) podHandler() cache.ResourceEventHandler {
	return watched.Handler(func(old, current *corev1.Pod) {
		if pods.Stopped(old, current) { // quotas of most kinds do not count it any more
			c.wakeRefused(old.Namespace)
		}
		switch {
		case old == nil:
			c.podCame(current)
		case current == nil:
			c.podWent(old)
		case old.ResourceVersion == current.ResourceVersion:
			// A resync. The ReplicaSets have their own.
		case ownership.ControllerUID(old) != ownership.ControllerUID(current):
			c.wakeController(old)
			c.podCame(current)
		default:
			c.podChanged(old, current)
		}
	})
}

// podCame is called for a Pod that is new to the cache, or whose controller has changed.
func (c *Controller) podCame(pod *corev1.Pod) {
	if metav1.GetControllerOfNoCopy(pod) == nil {
		c.wakeAdopters(pod)
		return
	}
	c.wakeController(pod)
}

// podWent is called for a Pod that has left the cache.
func (c *Controller) podWent(pod *corev1.Pod) {
	if c.pauses {
		c.failures.gone(pod)
	}
	c.wakeController(pod)
}

// podChanged is called for a Pod that has the controller it had.
func (c *Controller) podChanged(old, current *corev1.Pod) {
	key, controlled := controllerKey(current)
	switch {
	case controlled && (matters(old, current) || c.inflight.awaits(key)):
		c.queue.Add(key)
	case metav1.GetControllerOfNoCopy(current) == nil && !maps.Equal(old.Labels, current.Labels):
		c.wakeAdopters(current)
	}
}

// wakeController wakes the ReplicaSet that controls the Pod, if one does.
func (c *Controller) wakeController(pod *corev1.Pod) {
	if key, controlled := controllerKey(pod); controlled {
		c.queue.Add(key)
	}
}

// matters reports whether two versions of a Pod differ in what a ReplicaSet that has nothing
// to do would act on or report. What only decides about which Pod goes first is read when
// one has to go.
func matters(old, current *corev1.Pod) bool {
	return pods.IsActive(old) != pods.IsActive(current) ||
		pods.IsTerminating(old) != pods.IsTerminating(current) ||
		pods.IsReady(old) != pods.IsReady(current) ||
		!pods.ReadySince(old).Equal(pods.ReadySince(current)) ||
		!maps.Equal(old.Labels, current.Labels)
}

// wakeRefused wakes a ReplicaSet of the namespace whose Pods were refused, if there is one.
//
// The quotas themselves are not watched. Each Pod that comes or goes changes the status of
// all that count it, so that such a watch would bring as many events as that of Pods
// does; and a quota that an administrator raises is found with the next try.
func (c *Controller) wakeRefused(namespace string) {
	if key, found := c.refusals.next(namespace, c.clock.Now()); found {
		c.queue.AddAfter(key, roomTakes)
	}
}

// wakeAdopters wakes the ReplicaSets whose selector matches a Pod without a controller.
// There should be one at most; ownership keeps two from sharing it.
func (c *Controller) wakeAdopters(pod *corev1.Pod) {
	if !pods.IsActive(pod) {
		return // only active Pods are adopted
	}
	candidates, err := c.replicaSets.ReplicaSets(pod.Namespace).List(labels.Everything())
	if err != nil {
		return // a lister over a cache does not fail
	}
	for _, rs := range candidates {
		if selector, err := usableSelector(rs); err == nil && selector.Matches(labels.Set(pod.Labels)) {
			c.queue.Add(keyOf(rs))
		}
	}
}

// controllerKey returns the key of the ReplicaSet that controls the Pod, if one does. It may
// be a key whose ReplicaSet is not in the cache, or not the same one any more: its sync
// finds that out, and waking one too many costs nothing.
func controllerKey(pod *corev1.Pod) (types.NamespacedName, bool) {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil || controller.Kind != kind.Kind {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: controller.Name}, true
}
