package oracle

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller/deployment/util"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// randomName is short mostly. A long one has to be cut for the names of its ReplicaSets, and
// that may be behind a dot.
func randomName(d dice) string {
	if !d.odd(12) {
		return "web"
	}
	name := strings.Repeat(pick(d, "ww", "w.", ".w"), 127)
	return "w" + name[:pick(d, 200, 240, 241, 242, 245, 252)-d.IntN(2)-2] + "w"
}

func randomAnnotations(d dice) map[string]string {
	annotations := map[string]string{}
	for _, choice := range [][2]string{
		{util.RevisionAnnotation, pick(d, "1", "2", "3", "garbage")},
		{corev1.LastAppliedConfigAnnotation, "{}"},
		{"kubernetes.io/change-cause", pick(d, "", "edit")},
		{"example.com/team", "blue"},
		{util.DesiredReplicasAnnotation, "12"},
	} {
		if d.chance(30) {
			annotations[choice[0]] = choice[1]
		}
	}
	return annotations
}

// randomConditions returns conditions as a status has them, with times on either side of
// the deadlines that randomDeployment gives.
func randomConditions(d dice, now time.Time) []appsv1.DeploymentCondition {
	var conditions []appsv1.DeploymentCondition
	if d.chance(80) {
		status, reason, message := corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability."
		if d.chance(50) {
			status, reason, message = corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
		}
		conditions = append(conditions, condition(d, now, appsv1.DeploymentAvailable, status, reason, message))
	}
	if d.chance(85) {
		progress := pick(d,
			appsv1.DeploymentCondition{Status: corev1.ConditionTrue, Reason: "NewReplicaSetCreated", Message: `Created new replica set "web-1"`},
			appsv1.DeploymentCondition{Status: corev1.ConditionTrue, Reason: "FoundNewReplicaSet", Message: `Found new replica set "web-1"`},
			appsv1.DeploymentCondition{Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated", Message: `ReplicaSet "web-1" is progressing.`},
			appsv1.DeploymentCondition{Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", Message: `ReplicaSet "web-1" has successfully progressed.`},
			appsv1.DeploymentCondition{Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: `ReplicaSet "web-1" has timed out progressing.`},
			appsv1.DeploymentCondition{Status: corev1.ConditionUnknown, Reason: "DeploymentPaused", Message: "Deployment is paused"},
			appsv1.DeploymentCondition{Status: corev1.ConditionUnknown, Reason: "DeploymentResumed", Message: "Deployment is resumed"},
			appsv1.DeploymentCondition{Status: corev1.ConditionFalse, Reason: "ReplicaSetCreateError", Message: "Failed to create new replica set"},
		)
		conditions = append(conditions, condition(d, now, appsv1.DeploymentProgressing, progress.Status, progress.Reason, progress.Message))
	}
	if d.odd(25) {
		conditions = append(conditions, condition(d, now, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "no room"))
	}
	d.Shuffle(len(conditions), func(i, j int) { conditions[i], conditions[j] = conditions[j], conditions[i] })
	return conditions
}

func condition(d dice, now time.Time, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) appsv1.DeploymentCondition {
	seconds := pick(d, 0, 1, 10, 11, 12, 599, 600, 601, 7200, -3600)
	updated := metav1.NewTime(now.Add(-time.Duration(seconds) * time.Second))
	return appsv1.DeploymentCondition{
		Type: kind, Status: status, Reason: reason, Message: message,
		LastUpdateTime:     updated,
		LastTransitionTime: metav1.NewTime(updated.Add(-time.Duration(d.IntN(3)) * time.Minute)),
	}
}

// countedStatus returns the status that our loop would report of the world as it is, but for
// the conditions.
func countedStatus(w *world, status appsv1.DeploymentStatus) appsv1.DeploymentStatus {
	counted := rollout.Status(w.snapshot(time.Time{}), rollout.Plan{}, rollout.Outcome{}).Status
	counted.ObservedGeneration, counted.Conditions = status.ObservedGeneration, status.Conditions
	return counted
}

func randomCounts(d dice, status *appsv1.DeploymentStatus) {
	status.Replicas = d.Int32N(12)
	status.UpdatedReplicas = d.Int32N(status.Replicas + 1)
	status.ReadyReplicas = d.Int32N(status.Replicas + 1)
	status.AvailableReplicas = d.Int32N(status.ReadyReplicas + 1)
	status.UnavailableReplicas = d.Int32N(3)
}

// live lets some of what happens in a cluster happen: ReplicaSets get closer to their sizes,
// and users change their minds.
func live(d dice, w *world) {
	for _, rs := range w.owned() {
		if d.chance(70) {
			advance(d, rs)
		}
	}
	spec, generation := &w.deployment.Spec, w.deployment.Generation+1
	switch d.IntN(12) {
	case 0:
		size := randomSize(d)
		spec.Replicas = &size
	case 1:
		spec.Template = templateOf(d.IntN(5))
	case 2:
		spec.Paused = !spec.Paused
	case 3:
		spec.Strategy = randomStrategy(d, sizeOf(spec.Replicas))
	default:
		generation--
	}
	w.deployment.Generation = generation
}

// advance lets a ReplicaSet get nearer to its size, or reach it.
func advance(d dice, rs *appsv1.ReplicaSet) {
	size, before := sizeOf(rs.Spec.Replicas), rs.Status
	rs.Status.ObservedGeneration = rs.Generation
	rs.Status.Replicas = size
	rs.Status.ReadyReplicas = pick(d, size, min(max(size-1, 0), before.ReadyReplicas)+min(1, size))
	rs.Status.AvailableReplicas = pick(d, rs.Status.ReadyReplicas, min(rs.Status.ReadyReplicas, before.AvailableReplicas))
	rs.Status.TerminatingReplicas = number32(max(0, min(3, before.Replicas-size)))
}
