package telling

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ledger holds what there is to tell about objects of type O. T is what happens to them,
// one thing or several in a sum. It is safe for concurrent use.
type Ledger[O metav1.Object, T any] struct {
	tell func(O, T)
	add  func(sum, next T) (T, bool)

	mu    sync.Mutex
	pages map[types.NamespacedName]*page[O, T]
}

// page is about one object.
type page[O metav1.Object, T any] struct {
	uid types.UID // another object of the same name starts anew
	pace
	object O   // set while something is kept
	kept   []T // in the order in which it happened
}

// NewLedger returns a Ledger. tell tells something about an object and must not block; add
// returns the sum of something that is kept and of what happens next, or false if
// the two are told apart.
func NewLedger[O metav1.Object, T any](tell func(O, T), add func(sum, next T) (T, bool)) *Ledger[O, T] {
	return &Ledger[O, T]{tell: tell, add: add, pages: map[types.NamespacedName]*page[O, T]{}}
}

// Tell tells something that happened to an object just now, or keeps it for a sum. What is
// kept is told by Due; so whoever gets to know of a time from Due has to come back then.
func (l *Ledger[O, T]) Tell(object O, what T, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	p := l.pages[key]
	if p == nil || p.uid != object.GetUID() {
		l.close(key)
		p = &page[O, T]{uid: object.GetUID()}
		l.pages[key] = p
	}
	if p.single(now) {
		l.tell(object, what)
		return
	}
	p.keep(now)
	p.object = object
	for i := len(p.kept) - 1; i >= 0; i-- {
		if sum, ok := l.add(p.kept[i], what); ok {
			p.kept[i] = sum
			return
		}
	}
	p.kept = append(p.kept, what)
}

// Due tells what has been kept about an object for long enough, and returns after what time
// to ask again; 0 if nothing is kept.
func (l *Ledger[O, T]) Due(key types.NamespacedName, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pages[key]
	if p == nil || len(p.kept) == 0 {
		return 0
	}
	if left := p.left(now); left > 0 {
		return left
	}
	l.tellKept(p)
	p.told(now)
	return 0
}

// Close tells what is kept about an object and forgets it.
func (l *Ledger[O, T]) Close(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(key)
}

// CloseAll tells all that is kept and forgets all objects.
func (l *Ledger[O, T]) CloseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.pages {
		l.close(key)
	}
}

func (l *Ledger[O, T]) close(key types.NamespacedName) {
	if p := l.pages[key]; p != nil {
		l.tellKept(p)
		delete(l.pages, key)
	}
}

func (l *Ledger[O, T]) tellKept(p *page[O, T]) {
	for _, what := range p.kept {
		l.tell(p.object, what)
	}
	var none O
	p.object, p.kept = none, nil // an old version of the object is not held on to
}
