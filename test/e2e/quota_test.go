package e2e

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/test/e2e/lab"
)

func TestAQuotaThatRefusesPodsIsReportedAndHeals(t *testing.T) {
	t.Parallel()
	const (
		allowed, wanted = 2, 40
		// Slow start makes one refused request a try, and the tries grow rarer. Without
		// it the first try alone would be 38.
		mostRefused = 30
		forbidden   = 403
	)
	s := newSpace(t)
	s.Limit(corev1.ResourcePods, allowed)
	s.Create(lab.NewDeployment("web", wanted))
	s.UntilCondition("web", appsv1.DeploymentReplicaFailure, "True FailedCreate")
	s.Until("the allowed Pods", func(st *lab.Story) string { return lab.WrongPods(st, allowed) })
	if got := len(s.PodCreates(forbidden)); got > mostRefused {
		t.Errorf("%d creates were refused until it was reported, want %d at the most", got, mostRefused)
	}

	st := s.Until("an event about the refusal", func(st *lab.Story) string {
		for _, line := range st.EventsAbout("ReplicaSet", lab.WebReplicaSet) {
			if strings.HasPrefix(line, "replicaset-controller Warning FailedCreate: Error creating: pods ") && strings.Contains(line, "exceeded quota") {
				return ""
			}
		}
		return "there is none"
	})
	rs := st.ReplicaSets.Now[lab.WebReplicaSet]
	if got := rs.Status.Conditions; len(got) != 1 || got[0].Type != appsv1.ReplicaSetReplicaFailure || got[0].Status != corev1.ConditionTrue || got[0].Reason != "FailedCreate" || !strings.Contains(got[0].Message, "exceeded quota") {
		t.Errorf("the ReplicaSet's conditions are %v, want ReplicaFailure", got)
	}

	s.Unlimit()
	s.Complete("web")
	s.UntilDeployment("web", "no ReplicaFailure", func(d *appsv1.Deployment) string {
		return lab.WrongCondition(d, appsv1.DeploymentReplicaFailure, "")
	})
	s.WantPodCreates(wanted)
}
