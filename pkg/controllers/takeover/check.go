package takeover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

// Mode says what is done when another program runs the same loops.
type Mode string

// The modes.
const (
	Off  Mode = "off"  // nothing is looked at
	Warn Mode = "warn" // it is logged, at most once a minute
	Fail Mode = "fail" // the work ends, with an error
)

const (
	// sparedWrites may be made at once by who is no loop, and as many more every minute.
	sparedWrites = 2
	perMinute    = 1.0 / 60
)

// Config says what to look at.
type Config struct {
	Mode Mode
	// Manager is the name of this program in managedFields: its user agent up to the slash.
	Manager string
	// Deployments and ReplicaSets say whose status is ours to write: which loops run.
	Deployments, ReplicaSets bool
	// Metrics gets the counters of writes that were not ours.
	Metrics prometheus.Registerer
}

// Check looks for another program that runs the same loops. It is safe for concurrent use.
type Check struct {
	mode        Mode
	manager     string
	advice      string
	deployments *kind // nil if another program is to write them
	replicaSets *kind
	found       chan finding

	mu      sync.Mutex
	leading bool
	spared  flowcontrol.PassiveRateLimiter
}

// finding is a write by which another loop was noticed.
type finding struct {
	manager string
	kind    *kind
	object  klog.ObjectRef
}

// New returns a check that has seen nothing yet.
func New(config Config) (*Check, error) {
	c := &Check{
		mode:    config.Mode,
		manager: config.Manager,
		found:   make(chan finding, 1),
		spared:  flowcontrol.NewTokenBucketPassiveRateLimiter(sparedWrites*perMinute, sparedWrites),
	}
	var failures []error
	var loops []string
	add := func(enabled bool, controller, logKey string) *kind {
		if !enabled {
			return nil
		}
		k := newKind(controller, logKey)
		failures = append(failures, config.Metrics.Register(k.writes))
		loops = append(loops, controller+"-controller")
		return k
	}
	c.deployments = add(config.Deployments, "deployment", "deployment")
	c.replicaSets = add(config.ReplicaSets, "replicaset", "replicaSet")
	if err := errors.Join(failures...); err != nil {
		return nil, fmt.Errorf("registering the metrics of the takeover check: %w", err)
	}
	c.advice = fmt.Sprintf("turn off %s in kube-controller-manager (add -%s to its --controllers), or stop this program",
		strings.Join(loops, " and "), strings.Join(loops, ",-"))
	return c, nil
}

// See takes note of who has written the status of an object, which must still have its
// managedFields. Objects of other kinds are passed over.
func (c *Check) See(object metav1.Object) {
	k := c.kindOf(object)
	if k == nil || c.mode == Off {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entries := object.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		switch {
		case entry.Time == nil:
		case !c.leading:
			k.remember(entry.Time.Time)
		case c.isForeign(entry, object) && k.isNew(write{object.GetUID(), entry.Manager}, entry.Time.Time):
			k.writes.Inc()
			if !c.spared.TryAccept() {
				c.report(finding{entry.Manager, k, klog.KObj(object)})
			}
		}
	}
}

func (c *Check) kindOf(object metav1.Object) *kind {
	switch object.(type) {
	case *appsv1.Deployment:
		return c.deployments
	case *appsv1.ReplicaSet:
		return c.replicaSets
	}
	return nil
}

// isForeign reports whether an entry is about a write of the status by another program. One
// from before the object was made came with it, out of a backup.
func (c *Check) isForeign(entry *metav1.ManagedFieldsEntry, object metav1.Object) bool {
	return entry.Subresource == "status" && entry.Manager != c.manager && !byHand(entry.Manager) &&
		!entry.Time.Time.Before(object.GetCreationTimestamp().Time)
}

// byHand reports whether a manager is kubectl, which names itself "kubectl", or after its
// verb, such as "kubectl-patch". What it writes is undone by the loops, and no loop itself.
func byHand(manager string) bool {
	return manager == "kubectl" || strings.HasPrefix(manager, "kubectl-")
}

// report hands a finding to Run, unless that has not yet taken the one before.
func (c *Check) report(f finding) {
	select {
	case c.found <- f:
	default:
	}
}

// Run checks for as long as this process leads: until ctx ends, and then it returns nil.
// In the mode Fail it returns an error as soon as another program runs the same loops.
// Before, the caches must be filled.
func (c *Check) Run(ctx context.Context) error {
	c.lead()
	logger := klog.FromContext(ctx)
	complaints := flowcontrol.NewTokenBucketPassiveRateLimiter(perMinute, 1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case f := <-c.found:
			if c.mode == Fail {
				return c.problem(f)
			}
			if complaints.TryAccept() {
				logger.Error(c.problem(f), "Another program runs the same control loops",
					f.kind.logKey, f.object, "manager", f.manager)
			}
		}
	}
}

func (c *Check) lead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leading = true
}

// problem says what is wrong, by an example, and what to do.
func (c *Check) problem(f finding) error {
	return fmt.Errorf("%s writes the status of %s %s and of others, which is the work of this program, "+
		"and each undoes what the other does: %s", f.manager, f.kind.logKey, f.object, c.advice)
}
