package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
)

// rollbackTo is the deprecated annotation that asks for a rollback.
const rollbackTo = "deprecated.deployment.rollback.to"

// historyScenarios are about old revisions.
func historyScenarios() []scenario {
	return []scenario{
		{name: "history-limit-1", steps: func(s *space) {
			s.revisions(4, historyLimit(1))
			s.until("the history to be trimmed", func(st *story) string { return wrongReplicaSets(st, 2) })
		}},
		{name: "history-limit-0", steps: func(s *space) {
			s.revisions(3, historyLimit(0))
			s.until("no history", func(st *story) string { return wrongReplicaSets(st, 1) })
		}},
		{name: "history-limit-lowered", steps: func(s *space) {
			s.revisions(4)
			s.edit("web", historyLimit(1))
			s.until("the history to be trimmed", func(st *story) string { return wrongReplicaSets(st, 2) })
		}},
		{name: "history-limit-lowered-while-paused", steps: func(s *space) {
			s.revisions(3)
			s.pause()
			s.edit("web", historyLimit(0))
			s.until("the history to be trimmed", func(st *story) string { return wrongReplicaSets(st, 1) })
		}},
		{name: "undo", steps: func(s *space) {
			s.revisions(2)
			s.kubectl("rollout", "undo", "deployment/web")
			s.complete("web")
		}},
		{name: "undo-twice", steps: func(s *space) {
			s.revisions(2)
			s.kubectl("rollout", "undo", "deployment/web")
			s.complete("web")
			s.kubectl("rollout", "undo", "deployment/web")
			s.complete("web")
		}},
		{name: "undo-to-a-revision", steps: func(s *space) {
			s.revisions(3, annotated(changeCause, "the first"))
			s.kubectl("rollout", "undo", "deployment/web", "--to-revision=1")
			s.complete("web")
		}},
		{name: "rollback-by-annotation", steps: func(s *space) {
			s.revisions(3, annotated("team", "blue"))
			s.edit("web", annotated("team", "red"))
			s.complete("web")
			s.edit("web", annotated(rollbackTo, "1"))
			s.untilEvents("Deployment", `deployment-controller Normal DeploymentRollback: Rolled back deployment "web" to revision 1`)
			s.complete("web")
		}},
		{name: "rollback-by-annotation-to-the-last", steps: func(s *space) {
			s.revisions(3)
			s.edit("web", annotated(rollbackTo, "0"))
			s.untilEvents("Deployment", `deployment-controller Normal DeploymentRollback: Rolled back deployment "web" to revision 2`)
			s.complete("web")
		}},
		{name: "rollback-by-annotation-to-nowhere", uncounted: refusedRollbacks(), steps: func(s *space) {
			s.revisions(1)
			for _, try := range []struct{ revision, answer string }{
				{"0", "Unable to find last revision."}, {"7", "Unable to find the revision to rollback to."},
			} {
				s.edit("web", annotated(rollbackTo, try.revision))
				s.untilEvents("Deployment", "deployment-controller Warning DeploymentRollbackRevisionNotFound: "+try.answer)
				s.untilAnnotation(rollbackTo, "")
			}
		}},
		{name: "rollback-by-annotation-to-the-same", uncounted: refusedRollbacks(), steps: func(s *space) {
			s.revisions(2)
			s.edit("web", annotated(rollbackTo, "2"))
			s.untilEvents("Deployment",
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
func (s *space) revisions(n int, edits ...edit) {
	s.t.Helper()
	s.create(newDeployment("web", 1, edits...))
	s.complete("web")
	for i := 2; i <= n; i++ {
		s.edit("web", image(fmt.Sprintf("web:%d", i)))
		s.complete("web")
	}
}

// untilAnnotation waits until an annotation of Deployment web has a value; none is "".
func (s *space) untilAnnotation(key, value string) {
	s.t.Helper()
	s.untilDeployment("web", "annotation "+key, func(d *appsv1.Deployment) string {
		if got := d.Annotations[key]; got != value {
			return fmt.Sprintf("it is %q, want %q", got, value)
		}
		return ""
	})
	s.complete("web")
}

// annotationScenarios are about what the loops copy or leave alone.
func annotationScenarios() []scenario {
	return []scenario{
		{name: "annotations-changed-and-removed", steps: func(s *space) {
			s.create(newDeployment("web", 1, annotated("team", "blue"), annotated("gone", "x")))
			s.complete("web")
			s.kubectl("annotate", "deployment/web", "team=red", "more=x", "gone-", "--overwrite")
			s.complete("web")
		}},
		{name: "annotations-of-the-old-stay", steps: func(s *space) {
			s.create(newDeployment("web", 1, annotated(changeCause, "c1")))
			s.complete("web")
			s.edit("web", image("web:2"), annotated(changeCause, "c2"))
			s.complete("web")
			s.kubectl("rollout", "undo", "deployment/web")
			s.complete("web")
		}},
		{name: "annotations-that-are-not-copied", steps: func(s *space) {
			s.create(newDeployment("web", 1,
				annotated("kubectl.kubernetes.io/last-applied-configuration", "x"), annotated(revisionAnnotation+"-history", "x"),
				annotated("deployment.kubernetes.io/desired-replicas", "x"), annotated("deployment.kubernetes.io/max-replicas", "x"),
				annotated("deployment.kubernetes.io/other", "x")))
			s.complete("web")
		}},
		{name: "annotations-with-the-revision-removed", steps: func(s *space) {
			s.revisions(2)
			s.kubectl("annotate", "deployment/web", revisionAnnotation+"-")
			s.untilAnnotation(revisionAnnotation, "2")
		}},
		{name: "annotations-of-the-replicaset-removed", steps: func(s *space) {
			s.revisions(1, annotated("team", "blue"))
			s.kubectl("annotate", "replicaset/"+webReplicaSet, revisionAnnotation+"-", "team-", "deployment.kubernetes.io/desired-replicas-")
			s.until("the annotations to be back", func(st *story) string {
				rs := st.replicaSets.now[webReplicaSet]
				if rs == nil || rs.Annotations[revisionAnnotation] != "1" || rs.Annotations["team"] != "blue" {
					return "they are not"
				}
				return ""
			})
		}},
		{name: "min-ready-seconds-changed", steps: func(s *space) {
			s.revisions(1)
			s.edit("web", minReady(1))
			s.complete("web")
		}},
		{name: "labels-of-the-deployment-changed", steps: func(s *space) {
			s.revisions(1)
			s.kubectl("label", "deployment/web", "app=other", "more=x", "--overwrite")
			s.edit("web", replicas(2))
			s.complete("web")
		}},
	}
}
