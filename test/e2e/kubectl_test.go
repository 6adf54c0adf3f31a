package e2e

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// TestPauseHoldsTheRolloutButNotScaling: and what somebody does to a ReplicaSet directly is
// undone, paused or not. kubernetes#98457, #20853, #28271.
func TestPauseHoldsTheRolloutButNotScaling(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	s.complete("web")
	s.pause()
	s.kubectl("set", "image", "deployment/web", "web=web:2")
	s.kubectl("scale", "deployment/web", "--replicas=5")
	generation := s.deployment("web").Generation
	st := s.untilDeployment("web", "5 Pods while paused", func(d *appsv1.Deployment) string {
		if d.Status.ObservedGeneration < generation || d.Status.AvailableReplicas != 5 {
			return tellDeployment(d)
		}
		return ""
	})
	if len(st.replicaSets.now) != 1 || *st.withImage("web:1").Spec.Replicas != 5 {
		t.Errorf("while paused the ReplicaSets are %v, want only the old one with size 5", st.replicaSets.present())
	}
	if wrong := wrongCondition(st.deployments.now["web"], "Progressing", paused); wrong != "" {
		t.Errorf("while paused: %s", wrong)
	}
	s.resizeByHand(webReplicaSet, 9, 5)

	s.within(bounds{most: 7, least: 4}, func() {
		s.kubectl("rollout", "resume", "deployment/web")
		st = s.complete("web")
	})
	if rs := st.withImage("web:2"); *rs.Spec.Replicas != 5 || revisionOf(rs) != 2 {
		t.Errorf("after resume the new ReplicaSet has size %d and revision %d, want 5 and 2", *rs.Spec.Replicas, revisionOf(rs))
	}
	s.wantConditionSeen("web", "Progressing", paused, "Deployment is paused")
	s.wantConditionSeen("web", "Progressing", "Unknown DeploymentResumed", "Deployment is resumed")
	s.resizeByHand(st.withImage("web:2").Name, 9, 5)
	s.resizeByHand(webReplicaSet, 2, 0)
	if got := revisionOf(s.complete("web").deployments.now["web"]); got != 2 {
		t.Errorf("the revision is %d, want 2: a size makes no new one", got)
	}
}

// resizeByHand gives a ReplicaSet a size that is not the Deployment's wish, and waits until
// it is put back.
func (s *space) resizeByHand(name string, size, back int32) {
	s.t.Helper()
	generation := s.recorder.now().replicaSets.now[name].Generation
	s.kubectl("scale", "replicaset/"+name, fmt.Sprintf("--replicas=%d", size))
	s.until("the size of "+name+" to be put back", func(st *story) string {
		rs := st.replicaSets.now[name]
		if rs.Generation < generation+2 || *rs.Spec.Replicas != back || rs.Status.Replicas != back {
			return tellReplicaSet(rs)
		}
		return ""
	})
}

func TestADeploymentCreatedPausedMakesNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3, func(d *appsv1.Deployment) { d.Spec.Paused = true }))
	st := s.untilCondition("web", "Progressing", paused)
	if got := len(st.replicaSets.now); got != 0 {
		t.Errorf("there are %d ReplicaSets, want none", got)
	}
	s.kubectl("rollout", "resume", "deployment/web")
	s.complete("web")
	s.wantPodCreates(3)
}

func TestKubectlRolloutUndoRestartStatusAndHistory(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 2))
	s.wantRevision(1, "web:1")
	s.kubectl("set", "image", "deployment/web", "web=web:2")
	s.wantRevision(2, "web:2")
	s.kubectl("rollout", "undo", "deployment/web")
	s.wantRevision(3, "web:1")
	s.kubectl("set", "image", "deployment/web", "web=web:4")
	s.wantRevision(4, "web:4")
	s.kubectl("rollout", "undo", "deployment/web", "--to-revision=2")
	st := s.wantRevision(5, "web:2")
	if got := len(st.replicaSets.now); got != 3 {
		t.Errorf("there are %d ReplicaSets, want the 3 templates to be used again", got)
	}
	s.kubectl("rollout", "restart", "deployment/web")
	st = s.wantRevision(6, "web:2")
	if at := st.newest("web").Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"]; at == "" {
		t.Errorf("the restarted template has no time of its restart")
	}

	history := s.kubectl("rollout", "history", "deployment/web")
	if got := revisionColumn(history); got != "3 4 5 6" {
		t.Errorf("the history lists the revisions %s, want 3 4 5 6:\n%s", got, history)
	}
	if got := st.withImage("web:1").Annotations["deployment.kubernetes.io/revision-history"]; got != "1" {
		t.Errorf("the former revisions of the first template are %q, want 1", got)
	}
}

// wantRevision waits for the end of a rollout and checks what was rolled out.
func (s *space) wantRevision(revision int, image string) *story {
	s.t.Helper()
	st := s.complete("web")
	if said := s.kubectl("rollout", "status", "deployment/web", "--timeout=10s"); !strings.Contains(said, "successfully rolled out") {
		s.t.Errorf("kubectl rollout status said %q", said)
	}
	rs := st.newest("web")
	if got := rs.Spec.Template.Spec.Containers[0].Image; got != image || revisionOf(rs) != revision {
		s.t.Errorf("the newest ReplicaSet has revision %d and image %s, want %d and %s", revisionOf(rs), got, revision, image)
	}
	if got := revisionOf(st.deployments.now["web"]); got != revision {
		s.t.Errorf("the Deployment has revision %d, want %d", got, revision)
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
	s.create(newDeployment("web", 1))
	s.complete("web")
	s.edit("web", annotated(rollbackTo, "0"))
	s.untilEvents("Deployment", "deployment-controller Warning DeploymentRollbackRevisionNotFound: Unable to find last revision.")
	s.edit("web", image("web:2"))
	s.complete("web")
	s.edit("web", annotated(rollbackTo, "1"))
	s.untilEvents("Deployment", `deployment-controller Normal DeploymentRollback: Rolled back deployment "web" to revision 1`)
	st := s.wantRevision(3, "web:1")
	if _, left := st.deployments.now["web"].Annotations[rollbackTo]; left {
		t.Errorf("the annotation that asks for the rollback is still there")
	}
	s.edit("web", annotated(rollbackTo, "3"))
	s.untilEvents("Deployment",
		`deployment-controller Warning DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"`)
}
