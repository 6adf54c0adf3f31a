package replicaset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/replicaset/scale"
)

// The reasons of this loop's events. kubectl, dashboards and alerts match on them.
const (
	reasonCreated      = "SuccessfulCreate"
	reasonDeleted      = "SuccessfulDelete"
	reasonCreateFailed = scale.ReasonFailedCreate
	reasonDeleteFailed = scale.ReasonFailedDelete
)

// event is what is told to the users of a ReplicaSet.
type event struct {
	kind, reason, message string
}

// record sends an event about the ReplicaSet.
func (c *Controller) record(rs *appsv1.ReplicaSet, e event) {
	c.events.Event(rs, e.kind, e.reason, e.message)
}

func podCreated(name string) event {
	return event{corev1.EventTypeNormal, reasonCreated, fmt.Sprintf("Created pod: %v", name)}
}

func podDeleted(name string) event {
	return event{corev1.EventTypeNormal, reasonDeleted, fmt.Sprintf("Deleted pod: %v", name)}
}

func createFailed(err error) event {
	return event{corev1.EventTypeWarning, reasonCreateFailed, fmt.Sprintf("Error creating: %v", err)}
}

func deleteFailed(err error) event {
	return event{corev1.EventTypeWarning, reasonDeleteFailed, fmt.Sprintf("Error deleting: %v", err)}
}
