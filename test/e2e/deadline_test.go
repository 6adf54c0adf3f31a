package e2e

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

const timedOut = "False ProgressDeadlineExceeded"

func TestTheProgressDeadlineIsReportedAndClearedByAFix(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"), lab.Mode(localcluster.ModeNever), lab.Deadline(5))
	st := s.UntilCondition("web", appsv1.DeploymentProgressing, timedOut)
	rs := st.WithImage("web:2")
	s.WantConditionSeen("web", appsv1.DeploymentProgressing, timedOut, `ReplicaSet "`+rs.Name+`" has timed out progressing.`)
	wantTimedOutAfter(t, st, 5*time.Second)
	if wrong := lab.WrongCondition(st.Deployments.Now["web"], appsv1.DeploymentAvailable, "True MinimumReplicasAvailable"); wrong != "" {
		t.Errorf("while the old Pod still serves: %s", wrong)
	}
	if said, err := s.Lab.Cluster.Kubectl(t.Context(), "--namespace="+s.Name, "rollout", "status", "deployment/web"); err == nil {
		t.Errorf("kubectl rollout status was content with a rollout that has timed out: %s", said)
	}

	s.Edit("web", lab.Image("web:3"), lab.Mode(""))
	s.Complete("web")
}

// wantTimedOutAfter checks by the times in the status that the deadline was waited for.
// They are whole seconds.
func wantTimedOutAfter(t *testing.T, st *lab.Story, deadline time.Duration) {
	t.Helper()
	var progress time.Time
	for _, sighting := range st.Deployments.Seen {
		for _, condition := range sighting.Object.Status.Conditions {
			switch {
			case condition.Type != appsv1.DeploymentProgressing:
			case condition.Status == "True":
				progress = condition.LastUpdateTime.Time
			default:
				if waited := condition.LastTransitionTime.Sub(progress); waited < deadline {
					t.Errorf("the rollout timed out %s after its last progress, want %s or more", waited, deadline)
				}
				return
			}
		}
	}
	t.Error("the rollout never timed out")
}

func TestWithoutADeadlineThereIsNoProgressingCondition(t *testing.T) {
	t.Parallel()
	const off = 1<<31 - 1
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1, lab.Deadline(off)))
	st := s.UntilCondition("web", appsv1.DeploymentAvailable, "True MinimumReplicasAvailable")
	for _, sighting := range st.Deployments.Seen {
		if got, _ := lab.ConditionOf(sighting.Object, appsv1.DeploymentProgressing); got != "" {
			t.Errorf("the condition Progressing is %q, want none", got)
		}
	}
}
