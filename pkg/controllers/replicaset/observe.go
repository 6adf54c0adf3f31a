package replicaset

import (
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/replicaset/scale"
)

// usableSelector returns the ReplicaSet's selector, or why it cannot be used. The API server
// refuses all of these nowadays, so they are seen only in objects that are older. With a
// selector that does not match its own template there would never be enough Pods.
func usableSelector(rs *appsv1.ReplicaSet) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading spec.selector: %w", err)
	case selector.Empty():
		return nil, errors.New("spec.selector is empty and would select every pod; give it a label")
	case !selector.Matches(labels.Set(rs.Spec.Template.Labels)):
		return nil, errors.New("spec.selector does not match the labels of spec.template; change one of them")
	}
	return selector, nil
}

// owned is what a ReplicaSet has, and may have, in the cache.
type owned struct {
	// active says which active Pods it keeps, adopts or releases.
	active ownership.Claim[*corev1.Pod]
	// terminating holds the Pods it keeps that are being deleted.
	terminating []*corev1.Pod
	// controlled holds all Pods that it controls now.
	controlled []*corev1.Pod
}

// claim reads from the cache the Pods that the ReplicaSet controls, and those that it could
// adopt. Pods that have run to their end are nobody's business any more: they keep the
// owner they have, for the garbage collector.
func (c *Controller) claim(rs *appsv1.ReplicaSet, selector labels.Selector) owned {
	controlled := c.podsOf(rs)
	candidates := append(slices.Clip(controlled), ownership.Orphans[*corev1.Pod](c.podIndexer, rs.Namespace)...)
	return owned{
		active:      ownership.Sort(rs, selector, only(candidates, pods.IsActive)),
		terminating: ownership.Sort(rs, selector, only(controlled, pods.IsTerminating)).Keep,
		controlled:  controlled,
	}
}

// observe returns all that a decision about the ReplicaSet depends on.
func (c *Controller) observe(rs *appsv1.ReplicaSet, owned owned, settled bool) scale.Snapshot {
	snapshot := scale.Snapshot{
		ReplicaSet:  rs,
		Active:      owned.active.Keep,
		Terminating: owned.terminating,
		Settled:     settled,
		Now:         c.clock.Now(),
	}
	snapshot.Refused = c.refusals.Left(rs, snapshot.Now)
	if c.pauses {
		c.failures.look(&snapshot, owned.controlled)
	}
	if snapshot.ChoosesVictims() {
		snapshot.Siblings = c.siblings(rs)
	}
	return snapshot
}

// siblings returns the active Pods of all ReplicaSets that have the same owner, this one
// included; none if it has no owner.
func (c *Controller) siblings(rs *appsv1.ReplicaSet) []*corev1.Pod {
	owner := metav1.GetControllerOfNoCopy(rs)
	if owner == nil {
		return nil
	}
	var siblings []*corev1.Pod
	for _, sibling := range ownership.Owned[*appsv1.ReplicaSet](c.rsIndexer, rs.Namespace, owner.UID) {
		siblings = append(siblings, only(c.podsOf(sibling), pods.IsActive)...)
	}
	return siblings
}

// podsOf returns the cached Pods that the ReplicaSet controls.
func (c *Controller) podsOf(rs *appsv1.ReplicaSet) []*corev1.Pod {
	return ownership.Owned[*corev1.Pod](c.podIndexer, rs.Namespace, rs.UID)
}

// only returns the Pods for which keep is true.
func only(all []*corev1.Pod, keep func(*corev1.Pod) bool) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(all), func(pod *corev1.Pod) bool { return !keep(pod) })
}
