package oracle

import (
	"context"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/controller/replicaset"

	"controller-manager/pkg/controllers/pods"
	"controller-manager/pkg/controllers/replicaset/scale"
)

// replicaSets is what the API server keeps of some ReplicaSets of one owner.
type replicaSets struct {
	sets    map[string]*appsv1.ReplicaSet
	pods    []*corev1.Pod
	refusal error // of every create and delete
}

// change is what one sync makes of one ReplicaSet.
type change struct {
	created int
	deleted map[string]bool
	status  appsv1.ReplicaSetStatus
}

// burst is how many Pods the built-in creates or deletes in one sync.
const burst = replicaset.BurstReplicas

// builtinReplicaSets returns what the built-in ReplicaSet loop makes of each ReplicaSet, and
// when it was. It has to run in a bubble, as builtinDeployment does.
func builtinReplicaSets(t *testing.T, r *replicaSets) (map[string]*change, time.Time) {
	t.Helper()
	var objects []runtime.Object
	taken := &podServer{all: r, changes: map[string]*change{}, owners: map[string]string{}}
	for name, rs := range r.sets {
		rs = rs.DeepCopy()
		defaultSize(&rs.Spec.Replicas)
		objects = append(objects, rs)
		taken.changes[name] = &change{deleted: map[string]bool{}, status: *rs.Status.DeepCopy()}
	}
	for _, pod := range r.pods {
		objects = append(objects, pod.DeepCopy())
		taken.owners[pod.Name] = metav1.GetControllerOfNoCopy(pod).Name
	}
	now := runBuiltin(t, objects, taken.react, func(ctx context.Context, c *fake.Clientset, f informers.SharedInformerFactory) func() {
		loop := replicaset.NewReplicaSetController(ctx, f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), c, burst)
		return func() { loop.Run(ctx, 1) }
	})
	return taken.changes, now
}

// podServer stands in for the API server: it takes the writes of one sync of each ReplicaSet.
type podServer struct {
	mu      sync.Mutex
	all     *replicaSets
	changes map[string]*change
	owners  map[string]string // of Pods, by name
}

func (s *podServer) react(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch action := action.(type) {
	case clienttesting.CreateActionImpl:
		pod, ok := action.Object.(*corev1.Pod)
		if !ok {
			return true, action.Object, nil // an event
		}
		if s.all.refusal == nil {
			s.changes[metav1.GetControllerOfNoCopy(pod).Name].created++
		}
		return true, pod, s.all.refusal
	case clienttesting.UpdateActionImpl:
		rs := action.Object.(*appsv1.ReplicaSet)
		s.changes[rs.Name].status = rs.Status
		return true, rs, nil
	case clienttesting.DeleteActionImpl:
		if s.all.refusal == nil {
			s.changes[s.owners[action.Name]].deleted[action.Name] = true
		}
		return true, nil, s.all.refusal
	}
	return false, nil, nil // reads
}

// snapshot is what our loop would make of one of the ReplicaSets.
func (r *replicaSets) snapshot(rs *appsv1.ReplicaSet, now time.Time) scale.Snapshot {
	s := scale.Snapshot{ReplicaSet: rs, Settled: true, Now: now}
	for _, pod := range r.pods {
		owner := r.sets[metav1.GetControllerOfNoCopy(pod).Name]
		switch {
		case owner == rs && pods.IsActive(pod):
			s.Active = append(s.Active, pod)
		case owner == rs && pods.IsTerminating(pod):
			s.Terminating = append(s.Terminating, pod)
		}
		if pods.IsActive(pod) && related(owner, rs) {
			s.Siblings = append(s.Siblings, pod)
		}
	}
	return s
}

// related reports whether two ReplicaSets have the same owner.
func related(a, b *appsv1.ReplicaSet) bool {
	ownerA, ownerB := metav1.GetControllerOfNoCopy(a), metav1.GetControllerOfNoCopy(b)
	return ownerA != nil && ownerB != nil && ownerA.UID == ownerB.UID
}

// ours returns what our core makes of one of the ReplicaSets.
func (r *replicaSets) ours(rs *appsv1.ReplicaSet, now time.Time) (*change, scale.Snapshot) {
	s := r.snapshot(rs, now)
	plan := scale.Decide(s)
	ours := &change{deleted: map[string]bool{}}
	outcome := scale.Outcome{Err: r.refusal}
	if plan.Empty() {
		outcome.Err = nil
	}
	if outcome.Err == nil {
		outcome.Done, ours.created = plan.Create+len(plan.Delete), plan.Create
		for _, pod := range plan.Delete {
			ours.deleted[pod.Name] = true
		}
	}
	ours.status, _ = scale.Status(s, plan, outcome)
	return ours, s
}
