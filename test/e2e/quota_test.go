package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	s.limit(corev1.ResourcePods, allowed)
	s.create(newDeployment("web", wanted))
	s.untilCondition("web", appsv1.DeploymentReplicaFailure, "True FailedCreate")
	s.until("the allowed Pods", func(st *story) string { return wrongPods(st, allowed) })
	if got := len(s.podCreates(forbidden)); got > mostRefused {
		t.Errorf("%d creates were refused until it was reported, want %d at the most", got, mostRefused)
	}

	st := s.until("an event about the refusal", func(st *story) string {
		for _, line := range st.eventsAbout("ReplicaSet", webReplicaSet) {
			if strings.HasPrefix(line, "replicaset-controller Warning FailedCreate: Error creating: pods ") && strings.Contains(line, "exceeded quota") {
				return ""
			}
		}
		return "there is none"
	})
	rs := st.replicaSets.now[webReplicaSet]
	if got := rs.Status.Conditions; len(got) != 1 || got[0].Type != appsv1.ReplicaSetReplicaFailure || got[0].Status != corev1.ConditionTrue || got[0].Reason != "FailedCreate" || !strings.Contains(got[0].Message, "exceeded quota") {
		t.Errorf("the ReplicaSet's conditions are %v, want ReplicaFailure", got)
	}

	s.unlimit()
	s.complete("web")
	s.untilDeployment("web", "no ReplicaFailure", func(d *appsv1.Deployment) string {
		return wrongCondition(d, appsv1.DeploymentReplicaFailure, "")
	})
	s.wantPodCreates(wanted)
}

// limit makes a quota and waits until it is in force.
func (s *space) limit(what corev1.ResourceName, most int64) {
	s.t.Helper()
	quotas := s.client.CoreV1().ResourceQuotas(s.name)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{what: *resource.NewQuantity(most, resource.DecimalSI)}},
	}
	if _, err := quotas.Create(s.t.Context(), quota, metav1.CreateOptions{}); err != nil {
		s.t.Fatalf("creating a quota: %v", err)
	}
	s.poll("the quota to be in force", func(ctx context.Context) string {
		quota, err := quotas.Get(ctx, quota.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if len(quota.Status.Hard) == 0 {
			return fmt.Sprintf("its status is %v", quota.Status)
		}
		return ""
	})
}

// unlimit removes the quota.
func (s *space) unlimit() {
	s.t.Helper()
	if err := s.client.CoreV1().ResourceQuotas(s.name).Delete(s.t.Context(), "few", metav1.DeleteOptions{}); err != nil {
		s.t.Fatalf("deleting the quota: %v", err)
	}
}
