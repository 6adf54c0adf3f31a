package simulation

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// recreateStories are about the strategy under which old and new Pods never run together.
func recreateStories() []golden {
	return []golden{
		{
			name:  "Recreate",
			shows: "All old Pods stop, and only when the last one is gone the new ReplicaSet is made, at its full size.",
			steps: []step{given(web(3, "Recreate", recreate)), passes(time.Minute), sets("v2")},
			ends:  complete("v2", 3),
		},
		{
			name:  "Recreate, with Pods that are slow to stop and one finalizer",
			shows: "A Pod that stops is there until it is gone, also when only a finalizer holds it. There is no time limit: Recreate waits.",
			steps: []step{
				given(web(2, "Recreate; its Pods have a finalizer", recreate, func(d *appsv1.Deployment) {
					d.Spec.Template.Finalizers = []string{"example.com/drained"}
				})),
				passes(time.Minute), func(s *stage) { s.stopAfter = 25 * time.Second }, sets("v2"), passes(2 * time.Minute), drops(),
			},
			ends: complete("v2", 2),
		},
		{
			name:  "undo a Recreate",
			shows: "Before the last old Pod is gone the user changes their mind: its ReplicaSet is the new one again, which does not wait for its own Pods to stop.",
			steps: []step{given(web(2, "Recreate", recreate)), passes(time.Minute), func(s *stage) { s.stopAfter = 20 * time.Second }, sets("v2"), passes(5 * time.Second), undoes("v1")},
			ends:  complete("v1", 2),
		},
		{
			name:  "Recreate with a broken image",
			shows: "Nothing is left to serve, so Available is False, and the deadline says the rest.",
			steps: []step{given(web(2, "Recreate, progressDeadlineSeconds 600", recreate)), passes(time.Minute), sets("broken")},
			ends:  all(reports(appsv1.DeploymentAvailable, rollout.ReasonUnavailable), reports(appsv1.DeploymentProgressing, rollout.ReasonDeadlineExceeded), sized("broken", 2)),
		},
	}
}
