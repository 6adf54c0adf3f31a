package replicaset

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/ownership"
	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/replicaset/scale"
)

// failures keeps what is known about Pods that fail as soon as they are made, ReplicaSet by
// ReplicaSet. It is safe for concurrent use.
type failures struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*failingSet
}

// failingSet is what is known about one ReplicaSet.
type failingSet struct {
	owner types.UID // of the ReplicaSet: another of the same name starts anew
	known scale.Failures
	gone  []*corev1.Pod // that have failed and are not in the cache any more
	told  int           // the waves of which its users were told last
	lasts bool          // whether its replacements fail, too
}

// gone notes that a Pod has left the cache. A node or a taint may take one away sooner than the
// next sync comes.
func (f *failures) gone(pod *corev1.Pod) {
	key, controlled := controllerKey(pod)
	if !controlled || !pods.HasFailed(pod) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	set := f.of(key)
	set.gone = append(set.gone, pod)
}

// look adds to a snapshot what it needs to know of failures; controlled are all Pods in the cache
// that the ReplicaSet controls.
func (f *failures) look(s *scale.Snapshot, controlled []*corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set := f.of(keyOf(s.ReplicaSet))
	if set.owner != s.ReplicaSet.UID {
		*set = failingSet{owner: s.ReplicaSet.UID, gone: set.gone}
	}
	s.Failed = only(controlled, func(pod *corev1.Pod) bool { return !pods.IsActive(pod) && pods.HasFailed(pod) })
	for _, pod := range set.gone {
		if ownership.ControllerUID(pod) == set.owner {
			s.Failed = append(s.Failed, pod)
		}
	}
	set.known = set.known.After(*s)
	s.Failures = set.known
	set.lasts = s.Failures.Waves > 1 && s.Wanted() > 0
	if s.Settled {
		set.gone = nil
	}
}

// toTell reports whether the users have not been told of the last wave yet, and notes that they are.
func (f *failures) toTell(key types.NamespacedName, known scale.Failures) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	set := f.of(key)
	told := set.told == known.Waves
	set.told = known.Waves
	return !told
}

// forget drops all about a ReplicaSet that is gone.
func (f *failures) forget(key types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sets, key)
}

// lasting returns how many ReplicaSets there are whose replacements fail, too.
func (f *failures) lasting() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := 0.
	for _, set := range f.sets {
		if set.lasts {
			count++
		}
	}
	return count
}

func (f *failures) of(key types.NamespacedName) *failingSet {
	set := f.sets[key]
	if set == nil {
		set = &failingSet{}
		f.sets[key] = set
	}
	return set
}

// tellFailures tells, once for each wave, that Pods are not made because they fail.
func (c *Controller) tellFailures(ctx context.Context, s scale.Snapshot, plan scale.Plan) {
	pause := s.Failures.Left(s.Now)
	if plan.Wait == 0 || pause == 0 || !c.failures.toTell(keyOf(s.ReplicaSet), s.Failures) {
		return
	}
	c.metrics.pauses.Inc()
	c.record(s.ReplicaSet, podsFail(s.Failures, pause.Round(time.Second)))
	klog.FromContext(ctx).V(2).Info("Paused creating pods", "reason", plan.Why)
}
