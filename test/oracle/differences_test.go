package oracle

import (
	"math"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/kubernetes/pkg/controller/deployment/util"
)

// known is a difference from the built-in loop that is meant to be, between two syncs of
// which S tells all.
type known[S any] struct {
	name string
	// why tells what ours is better for.
	why string
	// excuses reports whether this is why the two syncs differ in that field.
	excuses func(S, difference) bool
}

// knownDifferences are those of the Deployment loop.
func knownDifferences() []known[step] {
	return []known[step]{
		{
			name: "counts after the writes",
			why:  "the built-in counts by the sizes before the sync; ours by those after it, which the built-in would report one sync later",
			excuses: func(s step, d difference) bool {
				return d.field == "status.unavailableReplicas" &&
					s.ours.deployment.Status.UnavailableReplicas == unavailable(s.ours) &&
					s.theirs.deployment.Status.UnavailableReplicas == unavailable(s.withCreated())
			},
		},
		{
			name: "dependable availability",
			why:  "of a ReplicaSet that was just scaled down no more Pods count as available than its size, since the others are condemned",
			excuses: func(s step, d difference) bool {
				return sizing(d) && s.rolls() && s.overAvailable() && s.sizesDiffer(d.object) > 0
			},
		},
		{
			name: "shrinking is not given up",
			why:  "an old ReplicaSet with more available Pods than its size keeps none from being shrunk; the built-in takes it for an error and stops there",
			excuses: func(s step, d difference) bool {
				return sizing(d) && s.rolls() && s.oldOverAvailable() && !s.isNew(d.object) && s.sizesDiffer(d.object) < 0
			},
		},
		{
			name: "failures are always reported",
			why:  "ReplicaFailure is brought up to date in every sync; the built-in leaves it alone while it scales, is paused or is being deleted",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentReplicaFailure) && !s.judges() && s.kept(d)
			},
		},
		{
			name: "latest cause",
			why:  "the message of ReplicaFailure follows the latest cause; the built-in keeps the first as long as the reason is the same",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentReplicaFailure) && s.kept(d) && s.otherMessage(appsv1.DeploymentReplicaFailure)
			},
		},
		{
			name: "no deadline, no Progressing",
			why:  "without a deadline Progressing goes at once; the built-in leaves it while it scales, is paused or is being deleted",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentProgressing) && !util.HasProgressDeadline(s.before.deployment) && !s.judges() && d.ours == none
			},
		},
		{
			name: "a status in full",
			why:  "when the new ReplicaSet cannot be created ours reports that and all else in one write; the built-in reports only that",
			excuses: func(s step, d difference) bool {
				return s.plan.Create != nil && !s.created() && d.object == "" && s.kept(d)
			},
		},
		{
			name: "the revision in the same write",
			why:  "a Deployment is given its new ReplicaSet's revision at once; the built-in does so one sync after it wrote the ReplicaSet",
			excuses: func(s step, d difference) bool {
				return d.object == "" && d.field == "annotation "+util.RevisionAnnotation && s.kept(d) && s.newSet() != nil &&
					d.ours == strconv.Quote(s.theirs.sets[s.newSet().Name].Annotations[util.RevisionAnnotation])
			},
		},
		{
			name: "a rollout is begun and judged in two syncs",
			why:  "that a ReplicaSet was created stays to be seen in a status; the built-in may judge the rollout in the same sync",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentProgressing) && s.created() && s.theirReason(util.ReplicaSetUpdatedReason, util.NewRSAvailableReason)
			},
		},
		{
			name: "found when it rolls out",
			why:  "that a ReplicaSet was found is told when its rollout is judged; the built-in tells it while it scales too",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentProgressing) && s.scales() && d.ours == none && s.theirReason(util.FoundNewRSReason)
			},
		},
		{
			name: "the message of today",
			why:  "Progressing names the ReplicaSet or the error that it is about now; the built-in keeps an older message as long as status and reason are the same",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentProgressing) && s.kept(d) && s.otherMessage(appsv1.DeploymentProgressing)
			},
		},
		{
			name: "success is of the rollout before",
			why:  "once another rollout has begun Progressing says so (kubernetes#115538); the built-in goes on telling the success of the one before, in a Recreate until the old Pods are gone, and after a leader died perhaps for good, so that no deadline passes",
			excuses: func(s step, d difference) bool {
				ours := util.GetDeploymentCondition(s.ours.deployment.Status, appsv1.DeploymentProgressing)
				return about(d, appsv1.DeploymentProgressing) && s.theirReason(util.NewRSAvailableReason) &&
					ours != nil && ours.Reason == util.ReplicaSetUpdatedReason
			},
		},
		{
			name: "why the deadline has passed",
			why:  "when the deadline has passed the message says why, behind the built-in's sentence (kubernetes#116891)",
			excuses: func(s step, d difference) bool {
				ours := util.GetDeploymentCondition(s.ours.deployment.Status, appsv1.DeploymentProgressing)
				theirs := util.GetDeploymentCondition(s.theirs.deployment.Status, appsv1.DeploymentProgressing)
				return about(d, appsv1.DeploymentProgressing) && ours != nil && theirs != nil && ours.Reason == util.TimedOutReason &&
					theirs.Reason == util.TimedOutReason && strings.HasPrefix(ours.Message, theirs.Message+" ")
			},
		},
		{
			name: "who does not know yet may still create",
			why:  "Recreate waits until the ReplicaSet loop knows that the old ReplicaSets are to have no Pods; until then the built-in may let two revisions run at the same time",
			excuses: func(s step, _ difference) bool {
				return !s.rolls() && s.plan.Create == nil && strings.HasPrefix(s.plan.Note, "waiting for the ReplicaSet loop to see")
			},
		},
		{
			name: "the clock of this rollout",
			why:  "a created ReplicaSet starts the clock of the deadline; the built-in lets it run on, perhaps to its end, if the last that it reported is another one created",
			excuses: func(s step, d difference) bool {
				before := util.GetDeploymentCondition(s.before.deployment.Status, appsv1.DeploymentProgressing)
				return about(d, appsv1.DeploymentProgressing) && s.created() && before != nil && before.Reason == util.NewReplicaSetReason
			},
		},
		{
			name: "garbage in revisions",
			why:  "a revision that is no number above 0 counts as none: it is replaced and not remembered; the built-in does neither with some of them, stops copying annotations, and rolls back to another revision than the last",
			excuses: func(s step, d difference) bool {
				copied := s.isNew(d.object) && strings.HasPrefix(d.field, "annotation ") && !sizing(d)
				return s.garbageRevision() && (copied || s.rollsBackToLast(d) || strings.Contains(d.field, util.RevisionAnnotation) || d.field == "existence")
			},
		},
		{
			name: "names are not cut behind a dot",
			why:  "a long name is cut before a dot; the built-in's would have a dash behind it, which the API server refuses",
			excuses: func(s step, d difference) bool {
				return s.cutBehindDot() && (d.field == "existence" || about(d, appsv1.DeploymentProgressing))
			},
		},
		{
			name: "stale desired-replicas",
			why:  "an active ReplicaSet that has the right size already is noted to be scaled (kubernetes#102551); the built-in leaves it, and scales in every sync from then on",
			excuses: func(s step, d difference) bool {
				rs := s.before.sets[d.object]
				return sizing(d) && s.scales() && rs != nil && sizeOf(rs.Spec.Replicas) == sizeOf(s.before.deployment.Spec.Replicas) &&
					d.ours == strconv.Quote(s.sizeNotes()[strings.TrimPrefix(d.field, "annotation ")])
			},
		},
		{
			name: "growing or shrinking, not both",
			why:  "a new size that leaves something to give makes no ReplicaSet smaller, and one that leaves something to take makes none larger; the built-in moves Pods from one to the other, from working ones to broken ones perhaps, and can add more than there are to take",
			excuses: func(s step, d difference) bool {
				return sizing(d) && s.scales() && s.growsAndShrinks()
			},
		},
		{
			name: "Recreate and a new size",
			why:  "a Recreate Deployment that is given a new size while several ReplicaSets are active goes on (kubernetes#125568); the built-in does nothing in every sync from then on",
			excuses: func(s step, d difference) bool {
				return !s.rolls() && !s.before.deployment.Spec.Paused && s.scales() && s.active() > 1 && (sizing(d) || about(d, appsv1.DeploymentProgressing))
			},
		},
		{
			name: "history spares what is scaled up",
			why:  "a paused Deployment does not delete the old ReplicaSet that it has scaled up in the same sync; the built-in does",
			excuses: func(s step, d difference) bool {
				return d.field == "existence" && d.theirs == none && s.before.deployment.Spec.Paused && s.ours.sets[d.object] != nil &&
					sizeOf(s.ours.sets[d.object].Spec.Replicas) > sizeOf(s.before.sets[d.object].Spec.Replicas)
			},
		},
		{
			name: "history by what is there",
			why:  "old revisions are deleted when the rollout is complete; the built-in asks whether its last status said so",
			excuses: func(s step, d difference) bool {
				rs := s.before.sets[d.object]
				return d.field == "existence" && rs != nil && sizeOf(rs.Spec.Replicas) == 0 && !s.isNew(d.object) &&
					s.completeWas() != s.completeIs() && (d.ours == none) == s.completeIs()
			},
		},
		{
			name: "a resume is reported first",
			why:  "a resume is reported in a write of its own, with all counts; the built-in finds in the same sync that those have changed and calls it progress, or scales by the old ones where an annotation is garbage",
			excuses: func(s step, d difference) bool {
				return resumes(s.before) && (about(d, appsv1.DeploymentProgressing) && s.theirReason(util.ReplicaSetUpdatedReason) || sizing(d) && s.scales() && !s.maximaKnown())
			},
		},
		{
			name: "complete with a ReplicaSet",
			why:  "a rollout to no Pods is complete when its ReplicaSet exists; to the built-in as soon as no Pod does, while old ones may be terminating",
			excuses: func(s step, d difference) bool {
				return about(d, appsv1.DeploymentProgressing) && sizeOf(s.before.deployment.Spec.Replicas) == 0 && s.newSet() == nil && !s.created() && s.theirReason(util.NewRSAvailableReason)
			},
		},
		{
			name: "a deleted Deployment only reports",
			why:  "while a Deployment is being deleted only its status is written; the built-in goes on annotating it and the new ReplicaSet, and reports having found that",
			excuses: func(s step, d difference) bool {
				revision := d.object == "" && d.field == "annotation "+util.RevisionAnnotation
				return s.before.deployment.DeletionTimestamp != nil && s.untouched(d) && (revision || bookkeeping(d) || about(d, appsv1.DeploymentProgressing))
			},
		},
		{
			name: "a rollback first",
			why:  "a rollback is carried out before anything else; the built-in first makes or annotates the ReplicaSet of the template that is about to go, and waits until it can",
			excuses: func(s step, d difference) bool {
				return s.plan.Rollback != nil && (rolledBack(d) && s.failsToCreate() && s.kept(d) ||
					s.untouched(d) && !rolledBack(d) && (d.object == "" || bookkeeping(d) || d.field == "existence"))
			},
		},
		{
			name: "ReplicaSets on their way out",
			why:  "a ReplicaSet that is being deleted is never scaled nor annotated, and its Pods are not relied on",
			excuses: func(s step, d difference) bool {
				if rs := s.before.sets[d.object]; rs != nil && rs.DeletionTimestamp != nil {
					return s.untouched(d)
				}
				return s.leaving() && (sizing(d) || s.tellsRevision(d) || d.field == "existence" || about(d, appsv1.DeploymentProgressing) || about(d, appsv1.DeploymentAvailable))
			},
		},
		{
			name: "the largest revision",
			why:  "the revision after the largest number is that number again; the built-in's wraps around to a negative one, before which it sees another last revision",
			excuses: func(s step, d difference) bool {
				return s.largestRevision() && (strings.HasPrefix(d.field, "annotation "+util.RevisionAnnotation) || s.rollsBackToLast(d))
			},
		},
		{
			name:    "arithmetic",
			why:     "the built-in's sums and products wrap around at 32 bits, ours are of 64 and end at the largest number",
			excuses: func(s step, d difference) bool { return computed(d) && s.overflows() },
		},
	}
}

// sizing reports whether the difference is one of sizes, or of what is noted with them.
func sizing(d difference) bool {
	return d.field == "size" || d.field == "annotation "+util.DesiredReplicasAnnotation || d.field == "annotation "+util.MaxReplicasAnnotation
}

// computed reports whether the difference is one of something that is reckoned with.
func computed(d difference) bool {
	counts := strings.HasPrefix(d.field, "status.") && strings.HasSuffix(d.field, "eplicas")
	return sizing(d) || counts || about(d, appsv1.DeploymentProgressing) || about(d, appsv1.DeploymentAvailable)
}

// bookkeeping reports whether the difference is one of what a ReplicaSet is given of its
// Deployment.
func bookkeeping(d difference) bool {
	return d.object != "" && (strings.HasPrefix(d.field, "annotation ") || d.field == "minReadySeconds")
}

// rolledBack reports whether the difference is one of what a rollback is to write.
func rolledBack(d difference) bool {
	return d.object == "" && (d.field == "spec" || strings.HasPrefix(d.field, "annotation ") && d.field != "annotation "+util.RevisionAnnotation)
}

// about reports whether the difference is one of a condition or of its times.
func about(d difference, kind appsv1.DeploymentConditionType) bool {
	return d.object == "" && strings.HasSuffix(d.field, " "+string(kind))
}

// overflows reports whether some sum or product of the built-in has no room in 32 bits.
func (s step) overflows() bool {
	most := int64(sizeOf(s.before.deployment.Spec.Replicas)) + surge(s.before.deployment)
	var sizes, replicas, available int64
	for _, rs := range s.before.owned() {
		sizes += int64(sizeOf(rs.Spec.Replicas))
		replicas += int64(rs.Status.Replicas)
		available += int64(rs.Status.AvailableReplicas)
		if int64(sizeOf(rs.Spec.Replicas))*most > math.MaxInt32 && s.scales() {
			return true
		}
	}
	return max(most, sizes+most, replicas, available) > math.MaxInt32
}
