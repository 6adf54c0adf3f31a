package replicaset

import (
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"controller-manager/pkg/controllers/worker"
)

// refusals spaces out the creates that are refused, ReplicaSet by ReplicaSet: every event about
// one wakes it, that of the status in which the refusal is reported included. A Pod that
// goes may have made the room that is missing, and then the next try of one ReplicaSet of that
// namespace is made at once: of that whose last try is the longest ago, and one for each Pod,
// so that a thousand that wait do not all run for the room of one.
//
// How many requests that costs: a ReplicaSet none of whose Pods can be created makes 24 tries in
// five minutes by itself (package worker), and at most 8 because of Pods that went: 3 at
// once and one a minute. Each of those puts the next one by itself off. Its first try may
// fill a quota, and then up to 6 requests are refused that were under way together in a quota
// of 5: that is 37 in all, and less than 40.
//
// It is safe for concurrent use. The zero refusals are ready for use.
type refusals struct {
	worker.Backoff

	mu      sync.Mutex
	waiting map[string][]*waiting // by namespace; the one that has waited longest is the first
}

// waiting is a ReplicaSet whose Pods were refused.
type waiting struct {
	key   types.NamespacedName
	wakes flowcontrol.PassiveRateLimiter
}

const (
	wakesAtOnce  = 3
	wakesASecond = 1. / 60
	// roomTakes is how long it takes, nearly always, from when a Pod has gone until the quotas
	// say so: kube-controller-manager counts anew then, and all API servers have to hear of it.
	roomTakes = time.Second
)

// refused notes that a create for the ReplicaSet was refused.
func (r *refusals) refused(rs *appsv1.ReplicaSet, clock clock.PassiveClock) {
	r.Refused(rs, clock.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(rs)
	i := r.index(key)
	if i < 0 {
		if r.waiting == nil {
			r.waiting = map[string][]*waiting{}
		}
		wakes := flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(wakesASecond, wakesAtOnce, clock)
		r.waiting[key.Namespace] = append(r.waiting[key.Namespace], &waiting{key, wakes})
		return
	}
	all := r.waiting[key.Namespace]
	last := all[i]
	r.waiting[key.Namespace] = append(slices.Delete(all, i, i+1), last)
}

// next chooses whose next try is made at once, now that there may be room in the namespace.
func (r *refusals) next(namespace string, now time.Time) (types.NamespacedName, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := now.Add(roomTakes)
	for _, one := range r.waiting[namespace] {
		if r.Hurry(one.key, at, one.wakes.TryAccept) {
			return one.key, true
		}
	}
	return types.NamespacedName{}, false
}

// Forget notes that Pods can be created for the ReplicaSet, or that it is gone.
func (r *refusals) Forget(key types.NamespacedName) {
	r.Backoff.Forget(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.index(key); i >= 0 {
		r.waiting[key.Namespace] = slices.Delete(r.waiting[key.Namespace], i, i+1)
	}
	if len(r.waiting[key.Namespace]) == 0 {
		delete(r.waiting, key.Namespace)
	}
}

func (r *refusals) index(key types.NamespacedName) int {
	return slices.IndexFunc(r.waiting[key.Namespace], func(one *waiting) bool { return one.key == key })
}
