package e2e

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

// TestPauseHoldsTheRolloutButNotScaling: and what somebody does to a ReplicaSet directly is
// undone, paused or not. kubernetes#98457, #20853, #28271.
func TestPauseHoldsTheRolloutButNotScaling(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	s.Complete("web")
	s.pause()
	s.Kubectl("set", "image", "deployment/web", "web=web:2")
	s.Kubectl("scale", "deployment/web", "--replicas=5")
	generation := s.Deployment("web").Generation
	st := s.UntilDeployment("web", "5 Pods while paused", func(d *appsv1.Deployment) string {
		if d.Status.ObservedGeneration < generation || d.Status.AvailableReplicas != 5 {
			return lab.TellDeployment(d)
		}
		return ""
	})
	if len(st.ReplicaSets.Now) != 1 || *st.WithImage("web:1").Spec.Replicas != 5 {
		t.Errorf("while paused the ReplicaSets are %v, want only the old one with size 5", st.ReplicaSets.Present())
	}
	if wrong := lab.WrongCondition(st.Deployments.Now["web"], "Progressing", paused); wrong != "" {
		t.Errorf("while paused: %s", wrong)
	}
	s.resizeByHand(lab.WebReplicaSet, 9, 5)

	s.Within(lab.Bounds{Most: 7, Least: 4}, func() {
		s.Kubectl("rollout", "resume", "deployment/web")
		st = s.Complete("web")
	})
	if rs := st.WithImage("web:2"); *rs.Spec.Replicas != 5 || lab.RevisionOf(rs) != 2 {
		t.Errorf("after resume the new ReplicaSet has size %d and revision %d, want 5 and 2", *rs.Spec.Replicas, lab.RevisionOf(rs))
	}
	s.WantConditionSeen("web", "Progressing", paused, "Deployment is paused")
	s.WantConditionSeen("web", "Progressing", "Unknown DeploymentResumed", "Deployment is resumed")
	s.resizeByHand(st.WithImage("web:2").Name, 9, 5)
	s.resizeByHand(lab.WebReplicaSet, 2, 0)
	if got := lab.RevisionOf(s.Complete("web").Deployments.Now["web"]); got != 2 {
		t.Errorf("the revision is %d, want 2: a size makes no new one", got)
	}
}

// resizeByHand gives a ReplicaSet a size that is not the Deployment's wish, and waits until
// it is put back.
func (s *space) resizeByHand(name string, size, back int32) {
	s.T.Helper()
	generation := s.Recorder.Now().ReplicaSets.Now[name].Generation
	s.Kubectl("scale", "replicaset/"+name, fmt.Sprintf("--replicas=%d", size))
	s.Until("the size of "+name+" to be put back", func(st *lab.Story) string {
		rs := st.ReplicaSets.Now[name]
		if rs.Generation < generation+2 || *rs.Spec.Replicas != back || rs.Status.Replicas != back {
			return lab.TellReplicaSet(rs)
		}
		return ""
	})
}

func TestADeploymentCreatedPausedMakesNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, func(d *appsv1.Deployment) { d.Spec.Paused = true }))
	st := s.UntilCondition("web", "Progressing", paused)
	if got := len(st.ReplicaSets.Now); got != 0 {
		t.Errorf("there are %d ReplicaSets, want none", got)
	}
	s.Kubectl("rollout", "resume", "deployment/web")
	s.Complete("web")
	s.WantPodCreates(3)
}

func TestKubectlRolloutUndoRestartStatusAndHistory(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2))
	s.wantRevision(1, "web:1")
	s.Kubectl("set", "image", "deployment/web", "web=web:2")
	s.wantRevision(2, "web:2")
	s.Kubectl("rollout", "undo", "deployment/web")
	s.wantRevision(3, "web:1")
	s.Kubectl("set", "image", "deployment/web", "web=web:4")
	s.wantRevision(4, "web:4")
	s.Kubectl("rollout", "undo", "deployment/web", "--to-revision=2")
	st := s.wantRevision(5, "web:2")
	if got := len(st.ReplicaSets.Now); got != 3 {
		t.Errorf("there are %d ReplicaSets, want the 3 templates to be used again", got)
	}
	s.Kubectl("rollout", "restart", "deployment/web")
	st = s.wantRevision(6, "web:2")
	if at := st.Newest("web").Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"]; at == "" {
		t.Errorf("the restarted template has no time of its restart")
	}

	history := s.Kubectl("rollout", "history", "deployment/web")
	if got := revisionColumn(history); got != "3 4 5 6" {
		t.Errorf("the history lists the revisions %s, want 3 4 5 6:\n%s", got, history)
	}
	if got := st.WithImage("web:1").Annotations["deployment.kubernetes.io/revision-history"]; got != "1" {
		t.Errorf("the former revisions of the first template are %q, want 1", got)
	}
}

// wantRevision waits for the end of a rollout and checks what was rolled out.
func (s *space) wantRevision(revision int, image string) *lab.Story {
	s.T.Helper()
	st := s.Complete("web")
	if said := s.Kubectl("rollout", "status", "deployment/web", "--timeout=10s"); !strings.Contains(said, "successfully rolled out") {
		s.T.Errorf("kubectl rollout status said %q", said)
	}
	rs := st.Newest("web")
	if got := rs.Spec.Template.Spec.Containers[0].Image; got != image || lab.RevisionOf(rs) != revision {
		s.T.Errorf("the newest ReplicaSet has revision %d and image %s, want %d and %s", lab.RevisionOf(rs), got, revision, image)
	}
	if got := lab.RevisionOf(st.Deployments.Now["web"]); got != revision {
		s.T.Errorf("the Deployment has revision %d, want %d", got, revision)
	}
	return st
}

// revisionColumn is the first column of kubectl's table of revisions.
func revisionColumn(history string) string {
	var revisions []string
	for line := range strings.Lines(history) {
		if fields := strings.Fields(line); len(fields) > 0 && strings.Trim(fields[0], "0123456789") == "" {
			revisions = append(revisions, fields[0])
		}
	}
	return strings.Join(revisions, " ")
}

func TestTheDeprecatedRollbackAnnotation(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.Edit("web", lab.Annotated(rollbackTo, "0"))
	s.UntilEvents("Deployment", "deployment-controller Warning DeploymentRollbackRevisionNotFound: Unable to find last revision.")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
	s.Edit("web", lab.Annotated(rollbackTo, "1"))
	s.UntilEvents("Deployment", `deployment-controller Normal DeploymentRollback: Rolled back deployment "web" to revision 1`)
	st := s.wantRevision(3, "web:1")
	if _, left := st.Deployments.Now["web"].Annotations[rollbackTo]; left {
		t.Errorf("the annotation that asks for the rollback is still there")
	}
	s.Edit("web", lab.Annotated(rollbackTo, "3"))
	s.UntilEvents("Deployment",
		`deployment-controller Warning DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"`)
}
