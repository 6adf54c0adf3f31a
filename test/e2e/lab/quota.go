package lab

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limit makes a quota and waits until it is in force.
func (s *Space) Limit(what corev1.ResourceName, most int64) {
	s.T.Helper()
	quotas := s.Client.CoreV1().ResourceQuotas(s.Name)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{what: *resource.NewQuantity(most, resource.DecimalSI)}},
	}
	if _, err := quotas.Create(s.T.Context(), quota, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("creating a quota: %v", err)
	}
	s.Poll("the quota to be in force", func(ctx context.Context) string {
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

// Unlimit removes the quota.
func (s *Space) Unlimit() {
	s.T.Helper()
	if err := s.Client.CoreV1().ResourceQuotas(s.Name).Delete(s.T.Context(), "few", metav1.DeleteOptions{}); err != nil {
		s.T.Fatalf("deleting the quota: %v", err)
	}
}
