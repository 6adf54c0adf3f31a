package better

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

// TestRecreateThatLooksDone: kubernetes#115538. While the old Pods are on their way out, the
// condition speaks of the rollout before.
func TestRecreateThatLooksDone(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
		s.Complete("web")
		s.Edit("web", lab.Image("web:2"))
		s.Until("all old Pods to be Terminating", lab.StillWanted)
		s.UntilObserved()
		untilSettled(s)
		reason, _ := lab.ConditionOf(s.Deployment("web"), appsv1.DeploymentProgressing)
		s.LetGo()
		s.Complete("web")
		s.LetGo()
		return finding{fault: reason == "True NewReplicaSetAvailable", cell: "Progressing is " + reason}
	})
}
