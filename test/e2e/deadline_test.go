package e2e

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
)

const timedOut = "False ProgressDeadlineExceeded"

func TestTheProgressDeadlineIsReportedAndClearedByAFix(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1))
	s.complete("web")
	s.edit("web", image("web:2"), mode(localcluster.ModeNever), deadline(5))
	st := s.untilCondition("web", appsv1.DeploymentProgressing, timedOut)
	rs := st.withImage("web:2")
	s.wantConditionSeen("web", appsv1.DeploymentProgressing, timedOut, `ReplicaSet "`+rs.Name+`" has timed out progressing.`)
	wantTimedOutAfter(t, st, 5*time.Second)
	if wrong := wrongCondition(st.deployments.now["web"], appsv1.DeploymentAvailable, "True MinimumReplicasAvailable"); wrong != "" {
		t.Errorf("while the old Pod still serves: %s", wrong)
	}
	if said, err := s.lab.cluster.Kubectl(t.Context(), "--namespace="+s.name, "rollout", "status", "deployment/web"); err == nil {
		t.Errorf("kubectl rollout status was content with a rollout that has timed out: %s", said)
	}

	s.edit("web", image("web:3"), mode(""))
	s.complete("web")
}

// wantTimedOutAfter checks by the times in the status that the deadline was waited for.
// They are whole seconds.
func wantTimedOutAfter(t *testing.T, st *story, deadline time.Duration) {
	t.Helper()
	var progress time.Time
	for _, sighting := range st.deployments.seen {
		for _, condition := range sighting.object.Status.Conditions {
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
	s.create(newDeployment("web", 1, deadline(off)))
	st := s.untilCondition("web", appsv1.DeploymentAvailable, "True MinimumReplicasAvailable")
	for _, sighting := range st.deployments.seen {
		if got, _ := conditionOf(sighting.object, appsv1.DeploymentProgressing); got != "" {
			t.Errorf("the condition Progressing is %q, want none", got)
		}
	}
}
