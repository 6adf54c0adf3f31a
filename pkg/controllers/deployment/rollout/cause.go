package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/pkg/controllers/pods"
)

// reasonRefused is the reason of the ReplicaFailure condition of a ReplicaSet whose Pods cannot
// be created.
const reasonRefused = "FailedCreate"

// IsOverdue reports whether the Deployment's progress deadline has passed, unless there has been
// progress that it does not report yet. Only then Status asks what keeps its new Pods, and the
// Snapshot must have them.
func IsOverdue(d *appsv1.Deployment, now time.Time) bool {
	limit, limited := deadline(d)
	condition := find(d.Status.Conditions, appsv1.DeploymentProgressing)
	if !limited || condition == nil || d.Spec.Paused || condition.Reason == ReasonComplete {
		return false
	}
	return hasTimedOut(condition) || condition.LastUpdateTime.Add(limit).Before(now)
}

// timedOutMessage says that the deadline has passed and, behind the sentence that tools match
// on, why, as far as that can be seen. What was said of the cause stays until another one
// is seen, so that a container that crashes, runs and crashes is not reported each time.
func (r *report) timedOutMessage(current *appsv1.DeploymentCondition) string {
	sentence, cause := r.subject()+" has timed out progressing.", r.cause()
	switch {
	case cause != "":
		return sentence + " " + cause
	case hasTimedOut(current):
		return current.Message
	}
	return sentence
}

// hasTimedOut reports whether a Progressing condition says that the deadline has passed.
func hasTimedOut(progressing *appsv1.DeploymentCondition) bool {
	return progressing != nil && progressing.Reason == ReasonDeadlineExceeded
}

// timesOut returns what the Progressing condition says, if it is with this report that the
// deadline has passed; "" otherwise.
func (r *report) timesOut() string {
	before, now := find(r.Deployment.Status.Conditions, appsv1.DeploymentProgressing), find(r.status.Conditions, appsv1.DeploymentProgressing)
	if hasTimedOut(now) && !hasTimedOut(before) {
		return now.Message
	}
	return ""
}

// cause says in a sentence or two what keeps the rollout from its end; "" if that is not seen.
func (r *report) cause() string {
	if r.new == nil {
		if made, youngest := r.madeInVain(); made > 0 {
			return fmt.Sprintf("ReplicaSet %q was made for its template and has another one: something changes it on its way.", youngest.Name)
		}
		return ""
	}
	for _, condition := range r.new.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Reason == reasonRefused {
			return fmt.Sprintf("Its Pods are refused (%s): %s.", condition.Reason, strings.TrimSuffix(condition.Message, "."))
		}
	}
	return cmp.Or(r.tellTrouble(r.trouble()), r.tellFailure())
}

// tellFailure says that new Pods have failed, and of what; "" if none has. Of several causes it is
// always the same.
func (r *report) tellFailure() string {
	failed, cause := false, ""
	for _, pod := range r.Pods[r.new.UID] {
		if !pods.IsActive(pod) && pods.HasFailed(pod) {
			failed, cause = true, max(cause, pods.CauseOfFailure(pod))
		}
	}
	switch {
	case !failed:
		return ""
	case cause == "":
		return "New Pods fail."
	}
	return fmt.Sprintf("New Pods fail (%s).", strings.TrimSuffix(cause, "."))
}

// trouble returns what keeps a new Pod from being ready: of several troubles the one that comes
// first in the life of a Pod, and of these always the same.
func (r *report) trouble() pods.Trouble {
	var troubles []pods.Trouble
	for _, pod := range r.Pods[r.new.UID] {
		if trouble := pods.TroubleOf(pod); trouble.Kind != pods.NoTrouble && pods.IsActive(pod) {
			troubles = append(troubles, trouble)
		}
	}
	if len(troubles) == 0 {
		return pods.Trouble{}
	}
	return slices.MinFunc(troubles, func(a, b pods.Trouble) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Container, b.Container), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
}

func (r *report) tellTrouble(t pods.Trouble) string {
	switch t.Kind {
	case pods.Unscheduled:
		// What the scheduler says of preemption is longer than the rest, and of no use here.
		why, _, _ := strings.Cut(cmp.Or(t.Message, t.Reason), " preemption:")
		return "A new Pod cannot be scheduled: " + strings.TrimSuffix(why, ".") + "." + r.roomNote()
	case pods.Waiting:
		return fmt.Sprintf("Container %q of a new Pod waits: %s%s.", t.Container, t.Reason, r.imageNote(t))
	case pods.Restarting:
		return fmt.Sprintf("Container %q of a new Pod fails and is restarted (%s).", t.Container, t.Reason)
	case pods.NotReady:
		return "A new Pod runs and is not ready: see its readiness probe."
	}
	return ""
}

// roomNote says what to do where a new Pod finds no node and no old one may go first.
func (r *report) roomNote() string {
	if r.recreates() || r.fenceposts.unavailable > 0 || sum(r.old, size) == 0 {
		return ""
	}
	return fmt.Sprintf(" maxUnavailable comes to 0 of %d Pods, so no old one may go first to make room: raise it.", r.wanted)
}

// imageNote names the image that a container waits for.
func (r *report) imageNote(t pods.Trouble) string {
	if !strings.Contains(t.Reason, "Image") {
		return ""
	}
	spec := &r.new.Spec.Template.Spec
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		if container.Name == t.Container {
			return ", image " + container.Image
		}
	}
	return ""
}
