package replicaset

import (
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// inflight remembers, for each ReplicaSet, the requests whose effect is not known or not
// yet to be seen in the cache. Nothing in it expires: an entry goes when its effect is
// known, or the ReplicaSet is gone. It is safe for concurrent use.
//
// A create is remembered by its Pod's name, from before it is sent until it is known whose
// Pod has that name. The next create uses the name again. If the answer was lost and the
// Pod exists, it is found; if not, it is made; never are there two. A create that was
// refused keeps its name too, so that the refusal, which quotes it, stays the same
// and is told once.
//
// A create that succeeded is waited for by its resourceVersion (package freshness).
//
// A delete is remembered by the Pod it was meant for, from before it is sent until the
// cache shows another version of that Pod or none. The request carries the version as a
// precondition, so by then it has taken effect or never will.
type inflight struct {
	pods   cache.Store
	suffix func() string // ends the name of a Pod

	mu       sync.Mutex
	requests map[types.NamespacedName]*requests // by ReplicaSet
}

// requests are those for one ReplicaSet.
type requests struct {
	owner   types.UID // of the ReplicaSet: another of the same name starts anew
	names   []string
	deletes map[types.UID]*deletion // by Pod

	// namespaceGoing is set when a create was refused because the namespace is being
	// deleted. There is no way back from that: no create for this ReplicaSet can work.
	namespaceGoing bool
}

type deletion struct {
	pod        *corev1.Pod // as it was when it was chosen
	unanswered bool        // the request ended without an answer; it may or may not take effect
	changed    time.Time   // when the answer was that the Pod has changed; zero if it was not
}

func newInflight(pods cache.Store) *inflight {
	return &inflight{pods: pods, suffix: randomSuffix, requests: map[types.NamespacedName]*requests{}}
}

// review drops what the cache shows by now, and reports whether there are deletes left to
// wait for.
func (f *inflight) review(key types.NamespacedName) (waiting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests[key]
	if r == nil {
		return false
	}
	r.names = slices.DeleteFunc(r.names, func(name string) bool {
		return f.cached(key.Namespace, name) != nil
	})
	for uid, deletion := range r.deletes {
		cached := f.cached(key.Namespace, deletion.pod.Name)
		if cached == nil || cached.ResourceVersion != deletion.pod.ResourceVersion {
			delete(r.deletes, uid)
		}
	}
	if len(r.names) == 0 && len(r.deletes) == 0 && !r.namespaceGoing {
		delete(f.requests, key)
	}
	return len(r.deletes) > 0
}

// cached returns the Pod of that name as the cache shows it; nil if it shows none.
func (f *inflight) cached(namespace, name string) *corev1.Pod {
	object, _, _ := f.pods.GetByKey(namespace + "/" + name) // a store in memory does not fail
	pod, _ := object.(*corev1.Pod)
	return pod
}

// awaits reports whether a delete for the ReplicaSet has not been seen yet.
func (f *inflight) awaits(key types.NamespacedName) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests[key]
	return r != nil && len(r.deletes) > 0
}

// forget drops all about a ReplicaSet that is gone.
func (f *inflight) forget(key types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.requests, key)
}

// names returns names for Pods to create: first those that are open from earlier.
func (f *inflight) names(rs *appsv1.ReplicaSet, count int) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	open := f.known(rs).names
	names := slices.Clone(open[:min(count, len(open))])
	for len(names) < count {
		names = append(names, f.newName(rs))
	}
	return names
}

// newName returns a name for a Pod of the ReplicaSet.
func (f *inflight) newName(rs *appsv1.ReplicaSet) string { return podName(rs, f.suffix()) }

// creating notes that a create under the name is about to be sent.
func (f *inflight) creating(rs *appsv1.ReplicaSet, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.of(rs); !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
}

// taken notes that it is known which Pod has the name, ours or another's.
func (f *inflight) taken(rs *appsv1.ReplicaSet, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.of(rs)
	r.names = slices.DeleteFunc(r.names, func(open string) bool { return open == name })
}

// namespaceGoing notes that no Pod can be created for the ReplicaSet any more.
func (f *inflight) namespaceGoing(rs *appsv1.ReplicaSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(rs).namespaceGoing = true
}

// mayCreate reports whether a create can work at all.
func (f *inflight) mayCreate(rs *appsv1.ReplicaSet) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.known(rs).namespaceGoing
}

// deleting notes that a delete of the Pod is about to be sent.
func (f *inflight) deleting(rs *appsv1.ReplicaSet, pod *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(rs).deletes[pod.UID] = &deletion{pod: pod}
}

// notDeleted notes that the delete was refused and the Pod stays.
func (f *inflight) notDeleted(rs *appsv1.ReplicaSet, pod *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of(rs).deletes, pod.UID)
}

// unanswered notes that nobody knows whether the delete takes effect.
func (f *inflight) unanswered(rs *appsv1.ReplicaSet, pod *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(rs).deletes[pod.UID] = &deletion{pod: pod, unanswered: true}
}

// changed notes that the answer to a delete was that the Pod is not the one any more that was
// chosen. The cache is about to show what became of it.
func (f *inflight) changed(rs *appsv1.ReplicaSet, pod *corev1.Pod, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(rs).deletes[pod.UID] = &deletion{pod: pod, changed: now}
}

// deletes returns how many deletes for the ReplicaSet have not been seen yet.
func (f *inflight) deletes(rs *appsv1.ReplicaSet) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.known(rs).deletes)
}

// deletesToRepeat returns the Pods whose delete was not answered, by name; and those that
// are said to have changed, but the cache has shown nothing of it for a while: a webhook may
// give that answer about a Pod that stays as it is.
func (f *inflight) deletesToRepeat(rs *appsv1.ReplicaSet, now time.Time) []*corev1.Pod {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pods []*corev1.Pod
	for _, deletion := range f.known(rs).deletes {
		overdue := !deletion.changed.IsZero() && now.Sub(deletion.changed) >= catchUp
		if deletion.unanswered || overdue {
			pods = append(pods, deletion.pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// of returns the requests for the ReplicaSet, to be changed.
func (f *inflight) of(rs *appsv1.ReplicaSet) *requests {
	r := f.requests[keyOf(rs)]
	if r == nil || r.owner != rs.UID {
		r = &requests{owner: rs.UID, deletes: map[types.UID]*deletion{}}
		f.requests[keyOf(rs)] = r
	}
	return r
}

// known returns the requests for the ReplicaSet, to be read.
func (f *inflight) known(rs *appsv1.ReplicaSet) requests {
	if r := f.requests[keyOf(rs)]; r != nil && r.owner == rs.UID {
		return *r
	}
	return requests{}
}
