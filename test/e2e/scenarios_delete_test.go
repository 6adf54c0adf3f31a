package e2e

import (
	appsv1 "k8s.io/api/apps/v1"
)

// deleteScenarios are about deletion.
func deleteScenarios() []scenario {
	return []scenario{
		{name: "delete-in-the-background", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.kubectl("delete", "deployment/web")
			s.untilGone()
		}},
		{name: "delete-in-the-foreground", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.kubectl("delete", "deployment/web", "--cascade=foreground")
			s.untilGone()
		}},
		{name: "delete-in-the-foreground-held", steps: func(s *space) {
			s.create(newDeployment("web", 2, held()))
			s.complete("web")
			s.kubectl("delete", "deployment/web", "--cascade=foreground", "--wait=false")
			s.untilTerminating(2)
		}},
		{name: "delete-and-leave-the-rest", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.kubectl("delete", "deployment/web", "--cascade=orphan")
			s.untilRelease(webReplicaSet)
		}},
		{name: "delete-leave-the-rest-and-create-again", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.kubectl("delete", "deployment/web", "--cascade=orphan")
			s.untilRelease(webReplicaSet)
			s.create(newDeployment("web", 3, annotated("team", "red")))
			s.complete("web")
		}},
		{name: "delete-and-create-again", steps: func(s *space) {
			s.create(newDeployment("web", 1))
			s.complete("web")
			s.kubectl("delete", "deployment/web", "--cascade=foreground")
			s.untilGone()
			s.create(newDeployment("web", 2))
			s.complete("web")
		}},
		{name: "delete-the-replicaset", steps: func(s *space) {
			s.create(newDeployment("web", 1))
			before := s.complete("web").replicaSets.now[webReplicaSet]
			s.kubectl("delete", "replicaset/"+webReplicaSet, "--cascade=foreground")
			s.until("another ReplicaSet of that name", func(st *story) string {
				if rs := st.replicaSets.now[webReplicaSet]; rs == nil || rs.UID == before.UID {
					return "it is not there"
				}
				return wrongPods(st, 1)
			})
			s.complete("web")
		}},
		{name: "delete-a-pod", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.deletePod(s.complete("web").pods.present()[0].Name)
			s.until("a third Pod", func(st *story) string {
				if got := st.pods.born(); got != 3 {
					return "there is none"
				}
				return wrongPods(st, 2)
			})
			s.complete("web")
		}},
		{name: "delete-a-pod-that-is-held", steps: func(s *space) {
			s.create(newDeployment("web", 2, held()))
			s.deletePod(s.complete("web").pods.present()[0].Name)
			s.until("a third Pod", func(st *story) string { return wrongPods(st, 3) })
			s.untilDeployment("web", "a Terminating Pod", func(d *appsv1.Deployment) string {
				if got := d.Status.TerminatingReplicas; got == nil || *got != 1 {
					return tellDeployment(d)
				}
				return ""
			})
			s.complete("web")
		}},
	}
}
