package deployment

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// The reasons of this loop's events. kubectl, dashboards and alerts match on them.
const (
	reasonScaling                   = "ScalingReplicaSet"
	reasonCreateError               = rollout.ReasonCreateError
	reasonSelectingAll              = "SelectingAll"
	reasonRollback                  = "DeploymentRollback"
	reasonRollbackRevisionNotFound  = "DeploymentRollbackRevisionNotFound"
	reasonRollbackTemplateUnchanged = "DeploymentRollbackTemplateUnchanged"
	reasonTemplateChanged           = "TemplateChanged"
	reasonDegraded                  = "Degraded"
	reasonDeadlineExceeded          = rollout.ReasonDeadlineExceeded
)

// event is what is told to the users of a Deployment.
type event struct {
	kind, reason, message string
}

// record sends an event about the Deployment.
func (c *Controller) record(d *appsv1.Deployment, e event) {
	c.events.Event(d, e.kind, e.reason, e.message)
}

// tell sends the events about what has just been reported for the first time.
func (c *Controller) tell(d *appsv1.Deployment, report rollout.Report) {
	if report.Degraded {
		c.record(d, degraded(report.Status))
	}
	if report.TimedOut != "" {
		c.record(d, timedOut(report.TimedOut))
	}
}

// step is a change of a ReplicaSet's size, or several that followed each other.
type step struct {
	replicaSet string
	from, to   int64
}

func (s step) shrinks() bool { return s.to < s.from }

// then adds a step to those before it, if it goes on where they ended, in the same direction.
func (s step) then(next step) (step, bool) {
	goesOn := s.replicaSet == next.replicaSet && s.to == next.from && s.shrinks() == next.shrinks()
	s.to = next.to
	return s, goesOn
}

// stepped tells of a step, now or together with those that follow.
func (c *Controller) stepped(d *appsv1.Deployment, s step) { c.steps.Tell(d, s, c.clock.Now()) }

func scaled(s step) event {
	direction := "up"
	if s.shrinks() {
		direction = "down"
	}
	return event{corev1.EventTypeNormal, reasonScaling,
		fmt.Sprintf("Scaled %s replica set %s from %d to %d", direction, s.replicaSet, s.from, s.to)}
}

func createFailed(replicaSet string, err error) event {
	return event{corev1.EventTypeWarning, reasonCreateError, rollout.CreateErrorMessage(replicaSet, err)}
}

func degraded(status appsv1.DeploymentStatus) event {
	return event{corev1.EventTypeWarning, reasonDegraded,
		fmt.Sprintf("%d of %d pods are not available, although the rollout is complete",
			status.UnavailableReplicas, status.UnavailableReplicas+status.AvailableReplicas)}
}

func timedOut(message string) event {
	return event{corev1.EventTypeWarning, reasonDeadlineExceeded, message}
}

// mostPaths is how many changed fields an event names.
const mostPaths = 3

func templateChanged(replicaSet string, paths []string) event {
	more := ""
	if len(paths) > mostPaths {
		more = fmt.Sprintf(" and %d more", len(paths)-mostPaths)
		paths = paths[:mostPaths]
	}
	return event{corev1.EventTypeWarning, reasonTemplateChanged,
		fmt.Sprintf("An admission webhook or policy changes %s%s of replica set %q, which cannot be used like that: exempt replica sets from it, or make the same change in the deployment",
			strings.Join(paths, ", "), more, replicaSet)}
}

func selectingAll() event {
	return event{corev1.EventTypeWarning, reasonSelectingAll,
		"This deployment is selecting all pods. A non-empty selector is required."}
}

func rollbackEnded(deployment string, rollback *rollout.Rollback) event {
	switch rollback.Outcome {
	case rollout.NoLastRevision:
		return event{corev1.EventTypeWarning, reasonRollbackRevisionNotFound, "Unable to find last revision."}
	case rollout.RevisionNotFound:
		return event{corev1.EventTypeWarning, reasonRollbackRevisionNotFound, "Unable to find the revision to rollback to."}
	case rollout.TemplateUnchanged:
		return event{corev1.EventTypeWarning, reasonRollbackTemplateUnchanged,
			fmt.Sprintf("The rollback revision contains the same template as current deployment %q", deployment)}
	}
	return event{corev1.EventTypeNormal, reasonRollback,
		fmt.Sprintf("Rolled back deployment %q to revision %d", deployment, rollback.Revision)}
}
