package lab

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Recorder watches a namespace and keeps every state of every object.
type Recorder struct {
	mu      sync.Mutex
	story   Story
	rules   []*Rule
	changed chan struct{} // closed, and replaced, with each change
	failed  error         // why the recorder sees nothing more
}

// Rule must hold after every single change.
type Rule struct {
	name   string
	holds  func(*Story) error
	broken error // the first time it did not
}

// record starts to watch a namespace that is still empty, until ctx ends.
func record(ctx context.Context, client kubernetes.Interface, namespace string) (*Recorder, error) {
	r := &Recorder{changed: make(chan struct{})}
	apps, core := client.AppsV1(), client.CoreV1()
	list, err := core.Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("finding where to start to watch: %w", err)
	}
	since := list.ResourceVersion
	for _, start := range []func() error{
		func() error { return follow(ctx, r, since, apps.Deployments(namespace), &r.story.Deployments) },
		func() error { return follow(ctx, r, since, apps.ReplicaSets(namespace), &r.story.ReplicaSets) },
		func() error { return follow(ctx, r, since, core.Pods(namespace), &r.story.Pods) },
		func() error { return follow(ctx, r, since, core.Events(namespace), &r.story.Events) },
	} {
		if err := start(); err != nil {
			return nil, fmt.Errorf("starting to watch: %w", err)
		}
	}
	return r, nil
}

// watchable is a typed client of one kind and namespace.
type watchable interface {
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func follow[T metav1.Object](ctx context.Context, r *Recorder, since string, client watchable, t *Track[T]) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, since, &cache.ListWatch{WatchFuncWithContext: client.Watch})
	if err != nil {
		return err
	}
	go func() {
		for event := range watcher.ResultChan() {
			object, ok := event.Object.(T)
			r.mu.Lock()
			if ok {
				t.Add(Sighting[T]{At: time.Now(), Change: event.Type, Object: object})
				r.check()
			} else {
				r.failed = fmt.Errorf("a watch delivered %s %v", event.Type, event.Object)
			}
			close(r.changed)
			r.changed = make(chan struct{})
			r.mu.Unlock()
		}
	}()
	return nil
}

// check looks at the rules. The caller holds the lock.
func (r *Recorder) check() {
	for _, rule := range r.rules {
		if rule.broken == nil {
			rule.broken = rule.holds(&r.story)
		}
	}
}

// Enforce adds a rule, which must hold from now on, until it is repealed.
func (r *Recorder) Enforce(name string, holds func(*Story) error) *Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := &Rule{name: name, holds: holds}
	r.rules = append(r.rules, added)
	r.check()
	return added
}

// Repeal removes a rule and returns how it was broken, if it was.
func (r *Recorder) Repeal(old *Rule) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.rules[:0]
	for _, rule := range r.rules {
		if rule != old {
			kept = append(kept, rule)
		}
	}
	r.rules = kept
	return old.broken
}

// until waits until nothing is missing and returns what was seen by then; or, if ctx
// ends before that, what was missing last.
func (r *Recorder) until(ctx context.Context, missing func(*Story) string) (*Story, error) {
	for {
		left, changed, copied, failed := r.look(missing)
		if left == "" {
			return copied, nil
		}
		if failed != nil {
			return copied, failed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return copied, fmt.Errorf("%w; last seen: %s", ctx.Err(), left)
		}
	}
}

// look says what is missing now, and gives the channel that is closed with the next
// change. The lock is given back even if missing panics, so that the panic is seen.
func (r *Recorder) look(missing func(*Story) string) (left string, changed <-chan struct{}, seen *Story, failed error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return missing(&r.story), r.changed, r.story.copy(), r.failed
}

// Now is what was seen so far.
func (r *Recorder) Now() *Story {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.story.copy()
}
