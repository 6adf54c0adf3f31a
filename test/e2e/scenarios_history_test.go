package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

// rollbackTo is the deprecated annotation that asks for a rollback.
const rollbackTo = "deprecated.deployment.rollback.to"

// historyScenarios are about old revisions.
func historyScenarios() []scenario {
	return []scenario{
		{name: "history-limit-1", steps: func(s *space) {
			s.revisions(4, lab.HistoryLimit(1))
			s.Until("the history to be trimmed", func(st *lab.Story) string { return wrongReplicaSets(st, 2) })
		}},
		{name: "history-limit-0", steps: func(s *space) {
			s.revisions(3, lab.HistoryLimit(0))
			s.Until("no history", func(st *lab.Story) string { return wrongReplicaSets(st, 1) })
		}},
		{name: "history-limit-lowered", steps: func(s *space) {
			s.revisions(4)
			s.Edit("web", lab.HistoryLimit(1))
			s.Until("the history to be trimmed", func(st *lab.Story) string { return wrongReplicaSets(st, 2) })
		}},
		{name: "history-limit-lowered-while-paused", steps: func(s *space) {
			s.revisions(3)
			s.pause()
			s.Edit("web", lab.HistoryLimit(0))
			s.Until("the history to be trimmed", func(st *lab.Story) string { return wrongReplicaSets(st, 1) })
		}},
		{name: "undo", steps: func(s *space) {
			s.revisions(2)
			s.Kubectl("rollout", "undo", "deployment/web")
			s.Complete("web")
		}},
		{name: "undo-twice", steps: func(s *space) {
			s.revisions(2)
			s.Kubectl("rollout", "undo", "deployment/web")
			s.Complete("web")
			s.Kubectl("rollout", "undo", "deployment/web")
			s.Complete("web")
		}},
		{name: "undo-to-a-revision", steps: func(s *space) {
			s.revisions(3, lab.Annotated(changeCause, "the first"))
			s.Kubectl("rollout", "undo", "deployment/web", "--to-revision=1")
			s.Complete("web")
		}},
		{name: "rollback-by-annotation", steps: func(s *space) {
			s.revisions(3, lab.Annotated("team", "blue"))
			s.Edit("web", lab.Annotated("team", "red"))
			s.Complete("web")
			s.Edit("web", lab.Annotated(rollbackTo, "1"))
			s.UntilEvents("Deployment", `deployment-controller Normal DeploymentRollback: Rolled back deployment "web" to revision 1`)
			s.Complete("web")
		}},
		{name: "rollback-by-annotation-to-the-last", steps: func(s *space) {
			s.revisions(3)
			s.Edit("web", lab.Annotated(rollbackTo, "0"))
			s.UntilEvents("Deployment", `deployment-controller Normal DeploymentRollback: Rolled back deployment "web" to revision 2`)
			s.Complete("web")
		}},
		{name: "rollback-by-annotation-to-nowhere", uncounted: refusedRollbacks(), steps: func(s *space) {
			s.revisions(1)
			for _, try := range []struct{ revision, answer string }{
				{"0", "Unable to find last revision."}, {"7", "Unable to find the revision to rollback to."},
			} {
				s.Edit("web", lab.Annotated(rollbackTo, try.revision))
				s.UntilEvents("Deployment", "deployment-controller Warning DeploymentRollbackRevisionNotFound: "+try.answer)
				s.untilAnnotation(rollbackTo, "")
			}
		}},
		{name: "rollback-by-annotation-to-the-same", uncounted: refusedRollbacks(), steps: func(s *space) {
			s.revisions(2)
			s.Edit("web", lab.Annotated(rollbackTo, "2"))
			s.UntilEvents("Deployment",
				`deployment-controller Warning DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"`)
			s.untilAnnotation(rollbackTo, "")
		}},
	}
}

// refusedRollbacks are the events about rollbacks that cannot be done.
func refusedRollbacks() map[string]string {
	const why = "the built-in tells before it takes the request away, and again when somebody else wrote first; ours tells once it is away"
	return map[string]string{"DeploymentRollbackRevisionNotFound": why, "DeploymentRollbackTemplateUnchanged": why}
}

// revisions makes a Deployment of one Pod with a number of revisions.
func (s *space) revisions(n int, edits ...lab.Edit) {
	s.T.Helper()
	s.Create(lab.NewDeployment("web", 1, edits...))
	s.Complete("web")
	for i := 2; i <= n; i++ {
		s.Edit("web", lab.Image(fmt.Sprintf("web:%d", i)))
		s.Complete("web")
	}
}

// untilAnnotation waits until an annotation of Deployment web has a value; none is "".
func (s *space) untilAnnotation(key, value string) {
	s.T.Helper()
	s.UntilDeployment("web", "annotation "+key, func(d *appsv1.Deployment) string {
		if got := d.Annotations[key]; got != value {
			return fmt.Sprintf("it is %q, want %q", got, value)
		}
		return ""
	})
	s.Complete("web")
}

// annotationScenarios are about what the loops copy or leave alone.
func annotationScenarios() []scenario {
	return []scenario{
		{name: "annotations-changed-and-removed", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, lab.Annotated("team", "blue"), lab.Annotated("gone", "x")))
			s.Complete("web")
			s.Kubectl("annotate", "deployment/web", "team=red", "more=x", "gone-", "--overwrite")
			s.Complete("web")
		}},
		{name: "annotations-of-the-old-stay", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, lab.Annotated(changeCause, "c1")))
			s.Complete("web")
			s.Edit("web", lab.Image("web:2"), lab.Annotated(changeCause, "c2"))
			s.Complete("web")
			s.Kubectl("rollout", "undo", "deployment/web")
			s.Complete("web")
		}},
		{name: "annotations-that-are-not-copied", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1,
				lab.Annotated("kubectl.kubernetes.io/last-applied-configuration", "x"), lab.Annotated(lab.RevisionAnnotation+"-history", "x"),
				lab.Annotated("deployment.kubernetes.io/desired-replicas", "x"), lab.Annotated("deployment.kubernetes.io/max-replicas", "x"),
				lab.Annotated("deployment.kubernetes.io/other", "x")))
			s.Complete("web")
		}},
		{name: "annotations-with-the-revision-removed", steps: func(s *space) {
			s.revisions(2)
			s.Kubectl("annotate", "deployment/web", lab.RevisionAnnotation+"-")
			s.untilAnnotation(lab.RevisionAnnotation, "2")
		}},
		{name: "annotations-of-the-replicaset-removed", steps: func(s *space) {
			s.revisions(1, lab.Annotated("team", "blue"))
			s.Kubectl("annotate", "replicaset/"+lab.WebReplicaSet, lab.RevisionAnnotation+"-", "team-", "deployment.kubernetes.io/desired-replicas-")
			s.Until("the annotations to be back", func(st *lab.Story) string {
				rs := st.ReplicaSets.Now[lab.WebReplicaSet]
				if rs == nil || rs.Annotations[lab.RevisionAnnotation] != "1" || rs.Annotations["team"] != "blue" {
					return "they are not"
				}
				return ""
			})
		}},
		{name: "min-ready-seconds-changed", steps: func(s *space) {
			s.revisions(1)
			s.Edit("web", lab.MinReady(1))
			s.Complete("web")
		}},
		{name: "labels-of-the-deployment-changed", steps: func(s *space) {
			s.revisions(1)
			s.Kubectl("label", "deployment/web", "app=other", "more=x", "--overwrite")
			s.Edit("web", lab.Replicas(2))
			s.Complete("web")
		}},
	}
}
