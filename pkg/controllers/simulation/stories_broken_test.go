package simulation

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// brokenStories are about rollouts that do not go well, and how they are helped.
func brokenStories() []golden {
	return []golden{
		{
			name:  "a broken image",
			shows: "The new Pods never become ready. The bounds keep 8 old ones working, and after progressDeadlineSeconds the Deployment says that it is stuck; nothing is undone by itself.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%, progressDeadlineSeconds 600")), passes(time.Minute), sets("broken")},
			ends:  all(reports(appsv1.DeploymentProgressing, rollout.ReasonDeadlineExceeded), reports(appsv1.DeploymentAvailable, rollout.ReasonAvailable), sized("v1", 8), sized("broken", 5)),
		},
		{
			name:  "a broken image, mended by a third one",
			shows: "The Pods of the broken revision go first: nobody misses them.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("broken"), passes(30 * time.Second), begins("a rollout of ten Pods to an image that is broken"), sets("v3")},
			ends:  all(complete("v3", 10), atRevision("v3", "3")),
		},
		{
			name:  "a deadline that passes, and Pods that come nevertheless",
			shows: "A deadline stops nothing: when the Pods become ready after all, the rollout goes on and the condition heals.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0, progressDeadlineSeconds 30", within("1", "0"), deadline(30))), passes(time.Minute), sets("slow")},
			ends:  complete("slow", 2),
		},
		{
			name:  "undo in the middle",
			shows: "Back to the old template in mid-rollout: its ReplicaSet is the new one again, grows as the bounds allow, and gets the next revision.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("broken"), passes(30 * time.Second), begins("a rollout of ten Pods to an image that is broken"), undoes("v1")},
			ends:  all(complete("v1", 10), atRevision("v1", "3"), sized("broken", 0)),
		},
		{
			name:  "undo to a template of long ago",
			shows: "No ReplicaSet is made for a template that still has one: that one grows again, and its revision moves from 1 to 4.",
			steps: []step{given(web(1, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), sets("v2"), passes(time.Minute), sets("v3"), passes(time.Minute), undoes("v1")},
			ends:  all(complete("v1", 1), atRevision("v1", "4"), kept(3)),
		},
		{
			name:  "the annotation that asks for a rollback",
			shows: "The way of old clients: the loop itself puts the template of revision 1 back, and takes the annotation away.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), sets("broken"), passes(30 * time.Second),
				asksFor("1")},
			ends: all(complete("v1", 2), atRevision("v1", "3")),
		},
		{
			name:  "a rollback to a revision that is not there",
			shows: "An event says so, and the annotation is taken away; nothing else happens.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), asksFor("7")},
			ends:  all(complete("v1", 2), atRevision("v1", "1")),
		},
		{
			name:  "a Pod that flaps",
			shows: "A Pod that is not ready for a moment is not replaced. While more are unavailable than maxUnavailable allows, Available says so.",
			steps: []step{given(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), becomes("web-v1-b", "is not ready any more", unready)},
			ends:  all(complete("v1", 3), reports(appsv1.DeploymentAvailable, rollout.ReasonAvailable)),
		},
		{
			name:  "a Pod is evicted",
			shows: "A Pod that has failed stays for people to look at, counts no more, and is replaced at once.",
			steps: []step{given(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), becomes("web-v1-b", "is evicted: it has failed", evicted)},
			ends: all(running(4), func(s *stage) string {
				if got := s.deployment().Status.AvailableReplicas; got != 3 {
					return "not all 3 Pods are available"
				}
				return ""
			}),
		},
		{
			name:  "a node is lost in the middle",
			shows: "Three old Pods fail at once in mid-rollout. They are replaced by their ReplicaSet, and the rollout waits until enough are available.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2"), passes(3 * time.Second),
				begins("a rollout of ten Pods to v2, 3 seconds old; maxSurge 3, maxUnavailable 2"),
				becomes("web-v1-a", "has failed: its node is lost", evicted), becomes("web-v1-b", "has failed: its node is lost", evicted),
				becomes("web-v1-c", "has failed: its node is lost", evicted)},
			ends: all(running(13), sized("v1", 0), sized("v2", 10), reports(appsv1.DeploymentProgressing, rollout.ReasonComplete)),
		},
		{
			name:  "Pods that fail over and over",
			shows: "A Pod that fails is replaced at once, but when that one fails, too, ever later. The bounds keep the old ones working, and a working image ends it; the failed Pods stay.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), sets("crash"), passes(time.Minute), sets("v3")},
			ends: all(atRevision("v3", "3"), func(s *stage) string {
				if got := s.deployment().Status; got.AvailableReplicas != 2 || got.UpdatedReplicas != 2 || got.Replicas != 2 {
					return "it reports " + counts(got)
				}
				return ""
			}),
		},
	}
}

// asksFor lets the user ask for a rollback as old clients do.
func asksFor(revision string) step {
	return edits(fmt.Sprintf("annotates web with %s=%s", rollout.RollbackAnnotation, revision), func(d *appsv1.Deployment) {
		d.Annotations = merged(d.Annotations, map[string]string{rollout.RollbackAnnotation: revision})
	})
}
