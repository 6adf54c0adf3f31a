package e2e

import (
	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

// deleteScenarios are about deletion.
func deleteScenarios() []scenario {
	return []scenario{
		{name: "delete-in-the-background", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.Kubectl("delete", "deployment/web")
			s.untilGone()
		}},
		{name: "delete-in-the-foreground", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.Kubectl("delete", "deployment/web", "--cascade=foreground")
			s.untilGone()
		}},
		{name: "delete-in-the-foreground-held", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Held()))
			s.Complete("web")
			s.Kubectl("delete", "deployment/web", "--cascade=foreground", "--wait=false")
			s.untilTerminating(2)
		}},
		{name: "delete-and-leave-the-rest", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.Kubectl("delete", "deployment/web", "--cascade=orphan")
			s.untilRelease(lab.WebReplicaSet)
		}},
		{name: "delete-leave-the-rest-and-create-again", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.Kubectl("delete", "deployment/web", "--cascade=orphan")
			s.untilRelease(lab.WebReplicaSet)
			s.Create(lab.NewDeployment("web", 3, lab.Annotated("team", "red")))
			s.Complete("web")
		}},
		{name: "delete-and-create-again", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			s.Complete("web")
			s.Kubectl("delete", "deployment/web", "--cascade=foreground")
			s.untilGone()
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
		}},
		{name: "delete-the-replicaset", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			before := s.Complete("web").ReplicaSets.Now[lab.WebReplicaSet]
			s.Kubectl("delete", "replicaset/"+lab.WebReplicaSet, "--cascade=foreground")
			s.Until("another ReplicaSet of that name", func(st *lab.Story) string {
				if rs := st.ReplicaSets.Now[lab.WebReplicaSet]; rs == nil || rs.UID == before.UID {
					return "it is not there"
				}
				return lab.WrongPods(st, 1)
			})
			s.Complete("web")
		}},
		{name: "delete-a-pod", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.DeletePod(s.Complete("web").Pods.Present()[0].Name)
			s.Until("a third Pod", func(st *lab.Story) string {
				if got := st.Pods.Born(); got != 3 {
					return "there is none"
				}
				return lab.WrongPods(st, 2)
			})
			s.Complete("web")
		}},
		{name: "delete-a-pod-that-is-held", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Held()))
			s.DeletePod(s.Complete("web").Pods.Present()[0].Name)
			s.Until("a third Pod", func(st *lab.Story) string { return lab.WrongPods(st, 3) })
			s.UntilDeployment("web", "a Terminating Pod", func(d *appsv1.Deployment) string {
				if got := d.Status.TerminatingReplicas; got == nil || *got != 1 {
					return lab.TellDeployment(d)
				}
				return ""
			})
			s.Complete("web")
		}},
	}
}
