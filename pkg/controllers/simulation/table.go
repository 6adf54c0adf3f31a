package simulation

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is a pointer to a typed API object. What one points at is never written once it is in
// a table: the API server, the caches and the story all share it, and a new version is a new
// object.
type object interface {
	comparable
	metav1.Object
}

// table holds the objects of one resource as they are on the API server, and the log of
// all that happened to them, which the caches read.
type table[T object] struct {
	resource string
	rows     []T // by name
	log      []change[T]

	// changed is called after each change, with who made it.
	changed func(by *writer, c change[T])
}

// writer is who makes a change.
type writer struct {
	name string
	sync *syncing // nil for all but the two loops
}

// wastes notes a write that changes nothing.
func (b *writer) wastes() error {
	if b.sync != nil {
		b.sync.wasted++
	}
	return nil
}

// change is a line of a log. Without an old object something was created, without a new one
// something is gone.
type change[T object] struct {
	version  int64
	old, new T
}

// name returns whose change it is.
func (c change[T]) name() string {
	var none T
	if c.new == none {
		return c.old.GetName()
	}
	return c.new.GetName()
}

// search returns where an object of the name is, or belongs.
func search[T object](rows []T, name string) (int, bool) {
	return slices.BinarySearchFunc(rows, name, func(row T, name string) int { return strings.Compare(row.GetName(), name) })
}

// get returns the object of the name; the zero T if there is none.
func (t *table[T]) get(name string) T {
	var none T
	if i, found := search(t.rows, name); found {
		return t.rows[i]
	}
	return none
}

// put replaces old by new at the end of the log. Either may be missing.
func (t *table[T]) put(c change[T]) {
	t.rows = replaced(t.rows, c)
	t.log = append(t.log, c)
}

// replaced returns the rows after a change.
func replaced[T object](rows []T, c change[T]) []T {
	var none T
	i, found := search(rows, c.name())
	switch {
	case c.new == none && found:
		return slices.Delete(rows, i, i+1)
	case c.new == none:
		return rows
	case found:
		rows[i] = c.new
		return rows
	}
	return slices.Insert(rows, i, c.new)
}

// firstVersion is the API server's before there is anything; 0 would be none.
const firstVersion = 1

// version returns the resourceVersion of the last change among the first n.
func (t *table[T]) version(n int) int64 {
	if n == 0 {
		return firstVersion
	}
	return t.log[n-1].version
}
