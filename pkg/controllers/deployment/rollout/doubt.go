package rollout

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// How long it takes until a template that came out changed is tried again. Where the API server
// cannot try without making a ReplicaSet, the wait doubles with each that was made, up to the
// longest.
const (
	DoubtFor        = time.Minute
	longestDoubt    = time.Hour
	mostCountedBack = 8 // after so many the wait is the longest
)

// Probe is a ReplicaSet to try without making it: the last one that was made for the template
// has another template now. Either admission changes templates on their way, and then each
// further ReplicaSet would come out as wrong as that one; or it was changed later.
type Probe struct {
	// ReplicaSet is what would be made, under the name after the one that is taken.
	ReplicaSet *appsv1.ReplicaSet
	// Former is the one that was made last.
	Former *appsv1.ReplicaSet
	// Blind tells that it may be made also if the API server refuses to try.
	Blind bool
	Why   string
}

// taken returns the ReplicaSet, of those that the Deployment controls, that has the name which a
// new one would be given; nil if that is free.
func (v view) taken() *appsv1.ReplicaSet {
	name := replicaSetName(v.Deployment.Name, templateHash(&v.Deployment.Spec.Template, v.Deployment.Status.CollisionCount))
	for _, rs := range v.old {
		if rs.Name == name {
			return rs
		}
	}
	return nil
}

// madeInVain returns how many ReplicaSets were made for the template and have another one now, and
// the youngest of them. What they were made for is in their names.
func (v view) madeInVain() (made int, youngest *appsv1.ReplicaSet) {
	names := map[string]bool{}
	for n := countOf(v.Deployment); n >= max(0, countOf(v.Deployment)-mostCountedBack); n-- {
		var collisions *int32
		if n > 0 {
			collisions = &n
		}
		names[replicaSetName(v.Deployment.Name, templateHash(&v.Deployment.Spec.Template, collisions))] = true
	}
	for _, rs := range v.old { // the oldest first
		if names[rs.Name] {
			made, youngest = made+1, rs
		}
	}
	return made, youngest
}

func countOf(d *appsv1.Deployment) int32 {
	if d.Status.CollisionCount == nil {
		return 0
	}
	return *d.Status.CollisionCount
}

// doubts reports whether the new ReplicaSet must not be made yet, and plans what to do then: to wait
// until the last one that came out changed is a minute old, or to try. Meanwhile nothing is
// scaled: its Pods stay, since nothing better can be had.
//
// Whose clock is wrong by more than a minute does not wait by it.
func (d *draft) doubts() bool {
	made, youngest := d.madeInVain()
	if made == 0 {
		return false
	}
	age := d.Now.Sub(youngest.CreationTimestamp.Time)
	if -DoubtFor < age && age < DoubtFor {
		d.wait = DoubtFor - age
		d.note = fmt.Sprintf("ReplicaSet %s was made for the Deployment's template less than a minute ago and has another one: waiting before the next try", youngest.Name)
		return true
	}
	former := d.taken()
	if former == nil {
		return false
	}
	next, collisions := *d.Deployment, countOf(d.Deployment)+1
	next.Status.CollisionCount = &collisions
	rs := newReplicaSet(&next)
	d.bookkeep(rs)
	d.markSize(rs)
	count := int32(d.wanted)
	rs.Spec.Replicas = &count
	wait := min(longestDoubt, DoubtFor<<(made-1))
	d.probe = &Probe{ReplicaSet: rs, Former: former, Blind: age < 0 || age >= wait,
		Why: fmt.Sprintf("ReplicaSet %s was made for the Deployment's template and has another one", former.Name)}
	d.note = d.probe.Why + ": trying whether that would happen again"
	return true
}
