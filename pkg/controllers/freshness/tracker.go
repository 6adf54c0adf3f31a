package freshness

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Store is the part of an informer's store that tells how far it has read.
type Store interface {
	// LastStoreSyncResourceVersion returns the resourceVersion of the newest
	// event in the store; "" while that is not known.
	LastStoreSyncResourceVersion() string
}

// Tracker remembers, for each key of a control loop, the newest write of that loop
// to the key's object and its children, by resource. It is safe for concurrent use.
type Tracker struct {
	stores map[string]Store

	mu     sync.Mutex
	writes map[types.NamespacedName]map[string]string // key → resource → resourceVersion
}

// NewTracker returns a Tracker for the named resources ("pods", "replicasets") and
// the informer stores that hold them.
func NewTracker(stores map[string]Store) *Tracker {
	return &Tracker{stores: stores, writes: map[types.NamespacedName]map[string]string{}}
}

// Wrote notes that the API server answered a write on behalf of the key with the
// given resourceVersion. An older version than one already noted changes nothing.
func (t *Tracker) Wrote(key types.NamespacedName, resource, version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	written := t.writes[key]
	if written == nil {
		written = map[string]string{}
		t.writes[key] = written
	}
	if !reached(written[resource], version) {
		written[resource] = version
	}
}

// Lag says which cache is behind, and by what.
type Lag struct {
	Resource string // the resource whose cache is behind
	Wrote    string // the resourceVersion of our newest write
	Seen     string // the resourceVersion that the cache has reached
}

func (l Lag) String() string {
	return fmt.Sprintf("the cache of %s is at resourceVersion %q, our last write at %q", l.Resource, l.Seen, l.Wrote)
}

// Behind returns the caches that have not yet seen the key's own writes, by resource;
// none, once all have, and then the key's notes are dropped.
func (t *Tracker) Behind(key types.NamespacedName) []Lag {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lags []Lag
	for resource, version := range t.writes[key] {
		seen := t.stores[resource].LastStoreSyncResourceVersion()
		if !reached(seen, version) {
			lags = append(lags, Lag{Resource: resource, Wrote: version, Seen: seen})
		}
	}
	if len(lags) == 0 {
		delete(t.writes, key)
	}
	slices.SortFunc(lags, func(a, b Lag) int { return strings.Compare(a.Resource, b.Resource) })
	return lags
}

// Forget drops all notes about a key whose object is gone.
func (t *Tracker) Forget(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.writes, key)
}

// reached reports whether a store at version seen has read a write at version wrote.
// Versions that are no numbers cannot be compared; then the store counts as
// behind only as long as it knows no version at all.
func reached(seen, wrote string) bool {
	if seen == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(seen, wrote)
	if err != nil {
		return true
	}
	return order >= 0
}
