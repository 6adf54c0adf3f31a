package scale

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Snapshot is all that a decision about one ReplicaSet may depend on, read once. Its
// objects are shared with the informer caches and are never written.
type Snapshot struct {
	ReplicaSet *appsv1.ReplicaSet
	// Active holds the active Pods that the ReplicaSet controls and selects.
	Active []*corev1.Pod
	// Terminating holds the Pods that it controls and selects and that are being deleted.
	Terminating []*corev1.Pod
	// Siblings holds the active Pods of all ReplicaSets of the same owner, this one
	// included. It is needed only if ChoosesVictims, and empty without an owner.
	Siblings []*corev1.Pod
	// Settled reports whether the caches have seen all of this loop's own writes for
	// the ReplicaSet. If not, Pods are counted, but not created or deleted.
	Settled bool
	// Failed holds the Pods that the ReplicaSet controls and that have failed, see pods.HasFailed;
	// also such as are gone since the last snapshot that was settled.
	Failed []*corev1.Pod
	// Failures is what is known about Pods that fail as soon as they are made, this snapshot
	// included; the zero one if nothing is to wait for that.
	Failures Failures
	// Refused is for how long no Pod is to be created, because one was refused a moment ago.
	Refused time.Duration
	// Now is the time of the decision.
	Now time.Time
}

// ChoosesVictims reports whether some of the active Pods, but not all, have to go.
func (s Snapshot) ChoosesVictims() bool {
	going := s.surplus()
	return going > 0 && going < s.active()
}

// Surplus is how many active Pods are there beyond those wanted; 0 if none.
func (s Snapshot) Surplus() int { return int(max(0, s.surplus())) }

func (s Snapshot) active() int64 { return int64(len(s.Active)) }

// Wanted is the size asked for. The API server sets it to 1 where a user leaves it out, so
// nil is seen only in objects that never passed one.
func (s Snapshot) Wanted() int64 {
	if s.ReplicaSet.Spec.Replicas == nil {
		return 1
	}
	return int64(*s.ReplicaSet.Spec.Replicas)
}

// missing is how many Pods have to be created; 0 or less if none.
func (s Snapshot) missing() int64 { return min(s.Wanted()-s.active(), mostPerSync) }

// surplus is how many Pods have to be deleted; 0 or less if none.
func (s Snapshot) surplus() int64 { return min(s.active()-s.Wanted(), mostPerSync) }
