package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/tools/cache"
)

// informer is a cache of one resource in one loop of one process, and what fills it. It has
// read a part of the resource's log, always from its beginning and in order, and the schedule
// says when it reads on. So it keeps the promises of client-go's, and no others: no event
// comes twice or before its turn, but each resource has a pace of its own.
type informer[T object] struct {
	cache.SharedIndexInformer // what the loops do not ask for is missing

	loop     string
	table    *table[T]
	position int // how much of the log has been read
	rows     []T // by name
	handler  cache.ResourceEventHandler
}

// reader is what the world does with an informer of whatever resource.
type reader interface {
	name() string
	lag() int
	read(count int)
	relist(count int)
	fill(position int)
	resync()
}

// name says whose cache it is, and how far it has read.
func (i *informer[T]) name() string {
	return fmt.Sprintf("%s's cache of %s, at v%d,", i.loop, i.table.resource, i.version())
}

// lag is how many changes the cache has not read yet.
func (i *informer[T]) lag() int { return len(i.table.log) - i.position }

// version is the resourceVersion of the last change that was read.
func (i *informer[T]) version() int64 { return i.table.version(i.position) }

// get returns the object of a name; the zero T if the cache shows none.
func (i *informer[T]) get(name string) T {
	var none T
	if at, found := search(i.rows, name); found {
		return i.rows[at]
	}
	return none
}

// read hands on the next changes, one by one.
func (i *informer[T]) read(count int) {
	var none T
	for range min(count, i.lag()) {
		c := i.table.log[i.position]
		i.position++
		i.rows = replaced(i.rows, c)
		switch {
		case c.old == none:
			i.handler.OnAdd(c.new, false)
		case c.new == none:
			i.handler.OnDelete(c.old)
		default:
			i.handler.OnUpdate(c.old, c.new)
		}
	}
}

// relist reads the next changes at once, as after a watch that broke off: what came between
// is never seen. An object that was deleted and made anew arrives as an update, and the
// last state of one that is gone as it was known.
func (i *informer[T]) relist(count int) {
	var none T
	before := slices.Clone(i.rows)
	from := i.position
	i.position += min(count, i.lag())
	for _, c := range i.table.log[from:i.position] {
		i.rows = replaced(i.rows, c)
	}
	for _, old := range before {
		if _, found := search(i.rows, old.GetName()); !found {
			i.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: keyOf(old).String(), Obj: old})
		}
	}
	for _, current := range slices.Clone(i.rows) {
		old := none
		if at, found := search(before, current.GetName()); found {
			old = before[at]
		}
		if old == none {
			i.handler.OnAdd(current, false)
		} else {
			i.handler.OnUpdate(old, current)
		}
	}
}

// fill is the first list: the log up to a position.
func (i *informer[T]) fill(position int) {
	for _, c := range i.table.log[:position] {
		i.rows = replaced(i.rows, c)
	}
	i.position = position
	for _, row := range slices.Clone(i.rows) {
		i.handler.OnAdd(row, true)
	}
}

// resync hands on everything once more, unchanged.
func (i *informer[T]) resync() {
	for _, row := range slices.Clone(i.rows) {
		i.handler.OnUpdate(row, row)
	}
}

// AddEventHandler is called once, before the cache is filled.
func (i *informer[T]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = handler
	return synced{}, nil
}

// synced is the registration of a handler. Nobody asks before a loop runs by itself.
type synced struct {
	cache.ResourceEventHandlerRegistration
}

// HasSynced is always the case: a loop is asked to work once its caches are filled.
func (synced) HasSynced() bool { return true }

// GetIndexer returns the cache.
func (i *informer[T]) GetIndexer() cache.Indexer { return index[T]{of: i} }

// GetStore returns the cache.
func (i *informer[T]) GetStore() cache.Store { return index[T]{of: i} }

// index is the cache as the loops read it.
type index[T object] struct {
	cache.Indexer // what the loops do not ask for is missing
	of            *informer[T]
}

// LastStoreSyncResourceVersion is how far the cache has read.
func (x index[T]) LastStoreSyncResourceVersion() string {
	return strconv.FormatInt(x.of.version(), 10)
}

// GetByKey returns the object of the key, "namespace/name".
func (x index[T]) GetByKey(k string) (any, bool, error) {
	_, name, _ := strings.Cut(k, "/")
	if i, found := search(x.of.rows, name); found {
		return x.of.rows[i], true, nil
	}
	return nil, false, nil
}

// Index returns all objects: there is one namespace.
func (x index[T]) Index(string, any) ([]any, error) {
	return x.which(func(T) bool { return true }), nil
}

// ByIndex returns the objects with the controller that the value "namespace/UID" names.
func (x index[T]) ByIndex(name, value string) ([]any, error) {
	if name != "controller" {
		return nil, fmt.Errorf("looking up %q in index %q: there is no such index", value, name)
	}
	_, uid, _ := strings.Cut(value, "/")
	return x.which(func(o T) bool {
		controller := metav1.GetControllerOfNoCopy(o)
		if controller == nil {
			return uid == ""
		}
		return string(controller.UID) == uid
	}), nil
}

// which returns some of the objects, in an order that changes with each change, as nobody may
// rely on one.
func (x index[T]) which(keep func(T) bool) []any {
	var kept []any
	for _, row := range x.of.rows {
		if keep(row) {
			kept = append(kept, row)
		}
	}
	if x.of.position%2 == 1 {
		slices.Reverse(kept)
	}
	return kept
}

func keyOf(o metav1.Object) key { return key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// matches reports whether a selector's labels are all on an object.
func matches(selector *metav1.LabelSelector, on map[string]string) bool {
	for label, value := range selector.MatchLabels {
		if has, ok := on[label]; !ok || has != value {
			return false
		}
	}
	return len(selector.MatchLabels) > 0
}
