package simulation

import (
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// scalingStories are about other sizes, pauses and another strategy, in the middle of a rollout
// and outside.
func scalingStories() []golden {
	ten := web(10, "maxSurge 3, maxUnavailable 2", within("3", "2"))
	return []golden{
		{
			name:  "scale up and down",
			shows: "Without a rollout a new size goes to the one ReplicaSet that is active, whatever the bounds.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), scales(5), passes(time.Minute), scales(3)},
			ends:  all(complete("v1", 3), atRevision("v1", "1")),
		},
		{
			name:  "scale up in the middle",
			shows: "The example of the Kubernetes documentation: a rollout of 10 is stuck at 8 old and 5 new Pods, and web is scaled to 15. Both take a share in proportion to their size, 3 and 2.",
			steps: []step{given(ten), passes(time.Minute), sets("broken"), passes(30 * time.Second), begins("a rollout of ten Pods to an image that is broken; maxSurge 3, maxUnavailable 2"), scales(15), passes(30 * time.Second)},
			ends:  all(sized("v1", 11), sized("broken", 7), reports(appsv1.DeploymentProgressing, rollout.ReasonDeadlineExceeded)),
		},
		{
			name:  "scale down in the middle",
			shows: "Shrinking is shared out in the same way, and then the rollout goes on within the new bounds.",
			steps: []step{given(ten), passes(time.Minute), sets("slow"), passes(30 * time.Second), begins("a rollout of ten Pods to an image that is slow; maxSurge 3, maxUnavailable 2"), scales(5)},
			ends:  complete("slow", 5),
		},
		{
			name:  "three revisions share a new size",
			shows: "Three active ReplicaSets, and from 10 to 20 Pods: each one's share is in proportion to its size, rounded; the rest goes to the largest.",
			steps: []step{given(ten), passes(time.Minute), sets("v2"), passes(6 * time.Second), sets("broken"), passes(4 * time.Second),
				begins("a rollout of ten Pods to v2, and then to an image that is broken; maxSurge 3, maxUnavailable 2"), scales(20)},
			ends: all(sized("v1", 5), sized("v2", 9), sized("broken", 9), reports(appsv1.DeploymentProgressing, rollout.ReasonDeadlineExceeded)),
		},
		{
			name:  "scale to nothing and back",
			shows: "A Deployment of 0 Pods is complete, and may roll meanwhile: nothing runs, so nothing has to be waited for.",
			steps: []step{given(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), scales(0), passes(time.Minute), sets("v2"), passes(time.Minute), scales(3)},
			ends:  complete("v2", 3),
		},
		{
			name:  "pause and resume in the middle",
			shows: "A pause stops the rollout where it is, with both revisions at work; the deadline's clock stands still and begins anew on resume.",
			steps: []step{given(ten), passes(time.Minute), sets("v2"), passes(3 * time.Second), begins("a rollout of ten Pods to v2, 3 seconds old; maxSurge 3, maxUnavailable 2"), pauses(), passes(15 * time.Minute), resumes()},
			ends:  complete("v2", 10),
		},
		{
			name:  "change the template while paused",
			shows: "Several changes, one rollout: while it is paused no ReplicaSet is made, and v2 never runs.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), pauses(), passes(10 * time.Second), sets("v2"), passes(10 * time.Second), sets("v3"),
				passes(10 * time.Second), resumes()},
			ends: all(complete("v3", 2), kept(2), atRevision("v3", "2")),
		},
		{
			name:  "scale while paused in the middle",
			shows: "A paused Deployment still scales, and both revisions take their share.",
			steps: []step{given(ten), passes(time.Minute), sets("v2"), passes(3 * time.Second), begins("a rollout of ten Pods to v2, 3 seconds old; maxSurge 3, maxUnavailable 2"), pauses(), passes(10 * time.Second), scales(20), passes(time.Minute)},
			ends:  all(reports(appsv1.DeploymentProgressing, rollout.ReasonPaused), reports(appsv1.DeploymentAvailable, rollout.ReasonAvailable)),
		},
		{
			name:  "change the bounds in the middle",
			shows: "A rollout that a broken image holds up goes one step further when maxUnavailable gets larger, without a new revision.",
			steps: []step{given(web(4, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), sets("broken"), passes(30 * time.Second), begins("a rollout of 4 Pods to an image that is broken; maxSurge 1, maxUnavailable 0"),
				edits("sets maxUnavailable to 2", within("1", "2"))},
			ends: all(sized("v1", 2), sized("broken", 3), reports(appsv1.DeploymentProgressing, rollout.ReasonDeadlineExceeded)),
		},
		{
			name:  "change what is no template",
			shows: "A new minReadySeconds and a new annotation of the Deployment go to its ReplicaSet, without a new revision and without a Pod being replaced.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute),
				edits("sets minReadySeconds to 10 and annotates web", func(d *appsv1.Deployment) {
					d.Spec.MinReadySeconds = 10
					d.Annotations = merged(d.Annotations, map[string]string{"note": "steady"})
				})},
			ends: all(complete("v1", 2), atRevision("v1", "1"), func(s *stage) string {
				if rs := s.named("v1"); rs.Annotations["note"] != "steady" || rs.Spec.MinReadySeconds != 10 {
					return "the ReplicaSet does not have them"
				}
				return ""
			}),
		},
		{
			name:  "no deadline",
			shows: "With progressDeadlineSeconds at its highest value there is no deadline, and no condition Progressing: a broken rollout is not told from a slow one.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0, progressDeadlineSeconds 2147483647", within("1", "0"), deadline(math.MaxInt32))), passes(time.Minute), sets("broken")},
			ends:  all(reports(appsv1.DeploymentProgressing, ""), reports(appsv1.DeploymentAvailable, rollout.ReasonAvailable), sized("v1", 2), sized("broken", 1)),
		},
		{
			name:  "change to Recreate and scale in the middle",
			shows: "One edit in mid-rollout changes the strategy and the size: the old Pods go, then the new ones grow to the new size (the built-in loop stays stuck: kubernetes#125568).",
			steps: []step{given(ten), passes(time.Minute), sets("v2"), passes(3 * time.Second), begins("a rollout of ten Pods to v2, 3 seconds old; maxSurge 3, maxUnavailable 2"),
				edits("changes the strategy to Recreate and scales web to 6", func(d *appsv1.Deployment) {
					recreate(d)
					d.Spec.Replicas = number(6)
				})},
			ends: complete("v2", 6),
		},
	}
}
