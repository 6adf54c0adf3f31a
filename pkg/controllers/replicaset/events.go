package replicaset

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/replicaset/scale"
	"controller-manager/pkg/controllers/telling"
	"controller-manager/pkg/controllers/worker"
)

// The reasons of this loop's events. kubectl, dashboards and alerts match on them.
const (
	reasonCreated      = "SuccessfulCreate"
	reasonDeleted      = "SuccessfulDelete"
	reasonCreateFailed = scale.ReasonFailedCreate
	reasonDeleteFailed = scale.ReasonFailedDelete
	reasonPodsFail     = "PodFailureBackoff"
)

// event is what is told to the users of a ReplicaSet.
type event struct {
	kind, reason, message string
}

// record sends an event about the ReplicaSet.
func (c *Controller) record(rs *appsv1.ReplicaSet, e event) {
	c.events.Event(rs, e.kind, e.reason, e.message)
}

// some is one Pod, or several that are told of in one event.
type some struct {
	pod   string // the name of the first
	count int
}

// andMore adds Pods to others.
func andMore(sum, next some) (some, bool) { return some{sum.pod, sum.count + next.count}, true }

// tells are what this loop has to tell of Pods.
type tells struct {
	created, deleted *telling.Ledger[*appsv1.ReplicaSet, some]
}

func (c *Controller) newTells() tells {
	ledger := func(told func(some) event) *telling.Ledger[*appsv1.ReplicaSet, some] {
		return telling.NewLedger(func(rs *appsv1.ReplicaSet, pods some) { c.record(rs, told(pods)) }, andMore)
	}
	return tells{created: ledger(podsCreated), deleted: ledger(podsDeleted)}
}

// podCreated tells that a Pod was made, now or in a sum.
func (c *Controller) podCreated(rs *appsv1.ReplicaSet, name string) {
	c.tells.created.Tell(rs, some{name, 1}, c.clock.Now())
}

// podDeleted tells that a Pod was deleted, now or in a sum.
func (c *Controller) podDeleted(rs *appsv1.ReplicaSet, name string) {
	c.tells.deleted.Tell(rs, some{name, 1}, c.clock.Now())
}

// due tells the sums whose time has come, and returns after what time the next one's comes.
func (t tells) due(key types.NamespacedName, now time.Time) time.Duration {
	return worker.Sooner(t.created.Due(key, now), t.deleted.Due(key, now))
}

// forget tells what is left to tell about a ReplicaSet that is gone.
func (t tells) forget(key types.NamespacedName) {
	t.created.Close(key)
	t.deleted.Close(key)
}

// rest tells all that is left to tell.
func (t tells) rest() {
	t.created.CloseAll()
	t.deleted.CloseAll()
}

func podsCreated(pods some) event {
	if pods.count > 1 {
		return event{corev1.EventTypeNormal, reasonCreated, fmt.Sprintf("Created %d more pods", pods.count)}
	}
	return event{corev1.EventTypeNormal, reasonCreated, fmt.Sprintf("Created pod: %v", pods.pod)}
}

func podsDeleted(pods some) event {
	if pods.count > 1 {
		return event{corev1.EventTypeNormal, reasonDeleted, fmt.Sprintf("Deleted %d more pods", pods.count)}
	}
	return event{corev1.EventTypeNormal, reasonDeleted, fmt.Sprintf("Deleted pod: %v", pods.pod)}
}

func createFailed(err error) event {
	return event{corev1.EventTypeWarning, reasonCreateFailed, fmt.Sprintf("Error creating: %v", err)}
}

func deleteFailed(err error) event {
	return event{corev1.EventTypeWarning, reasonDeleteFailed, fmt.Sprintf("Error deleting: %v", err)}
}

// podsFail tells why no Pods are made for a while.
func podsFail(failures scale.Failures, pause time.Duration) event {
	return event{corev1.EventTypeWarning, reasonPodsFail, fmt.Sprintf("Not creating pods for %s: %s", pause, failures)}
}
