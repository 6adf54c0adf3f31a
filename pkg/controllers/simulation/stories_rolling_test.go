package simulation

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// rollingStories are about rolling updates that go well.
func rollingStories() []golden {
	return []golden{
		{
			name:  "create a Deployment",
			shows: "A Deployment makes a ReplicaSet, the ReplicaSet makes Pods, and what is known of the Pods comes back the same way.",
			steps: []step{creates(web(3, "maxSurge 25%, maxUnavailable 25%"))},
			ends:  all(complete("v1", 3), atRevision("v1", "1")),
		},
		{
			name: "roll ten Pods, a quarter more and a quarter less",
			shows: "The defaults: at most 3 Pods more than wanted are asked for (25 % of 10, rounded up), at most 2 fewer are " +
				"available (rounded down), and each step is as large as these two bounds let it be.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2")},
			ends:  all(complete("v2", 10), atRevision("v2", "2")),
		},
		{
			name:  "roll without a surge",
			shows: "With maxSurge 0 an old Pod has to go before a new one comes: never more Pods than wanted.",
			steps: []step{given(web(3, "maxSurge 0, maxUnavailable 1", within("0", "1"))), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 3),
		},
		{
			name:  "roll without a gap",
			shows: "With maxUnavailable 0 an old Pod goes only once a new one is available: never fewer than wanted.",
			steps: []step{given(web(3, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 3),
		},
		{
			name:  "roll all new ones beside all old ones",
			shows: "With maxSurge 100% all new Pods come at once beside the old ones, which all go once the new ones are available.",
			steps: []step{given(web(4, "maxSurge 100%, maxUnavailable 0", within("100%", "0"))), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 4),
		},
		{
			name:  "replace all at once",
			shows: "With maxUnavailable 100% and no surge all old Pods go at once, and all new ones come at once: short, and without service meanwhile.",
			steps: []step{given(web(4, "maxSurge 0, maxUnavailable 100%", within("0", "100%"))), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 4),
		},
		{
			name:  "percentages are rounded",
			shows: "25 % of 3 Pods are 0.75: maxSurge is rounded up to 1, maxUnavailable down to 0.",
			steps: []step{given(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 3),
		},
		{
			name:  "both bounds round to nothing",
			shows: "maxSurge 0 and maxUnavailable 10% of 2 Pods would allow no step at all; then one Pod may be unavailable.",
			steps: []step{given(web(2, "maxSurge 0, maxUnavailable 10%", within("0", "10%"))), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 2),
		},
		{
			name:  "roll a single Pod",
			shows: "One Pod and the defaults: maxSurge 1 and maxUnavailable 0, so that there is always one.",
			steps: []step{given(web(1, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 1),
		},
		{
			name:  "Pods must stay ready for a while",
			shows: "With minReadySeconds 10 a Pod that is ready counts as available 10 s later, and the rollout waits for that.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0, minReadySeconds 10", within("1", "0"), func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 10 })),
				passes(time.Minute), sets("v2")},
			ends: complete("v2", 2),
		},
		{
			name:  "a third template in the middle",
			shows: "A new template does not wait for the rollout under way: what that one has made is old at once, and goes first where it is not available.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2"), passes(7 * time.Second), sets("v3")},
			ends:  all(complete("v3", 10), atRevision("v3", "3"), kept(3)),
		},
		{
			name:  "restart",
			shows: `"kubectl rollout restart" writes the time into the template's annotations. That is a new template, so all Pods are replaced.`,
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute),
				edits("restarts web: an annotation in the template", func(d *appsv1.Deployment) {
					d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z"}
				})},
			ends: all(complete("v1", 2), atRevision("v1-2", "2"), sized("v1", 0)),
		},
	}
}
