package better

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

// TestTheCauseOfAFailure: kubernetes#127081. Pods are refused for one reason and then for
// another one.
func TestTheCauseOfAFailure(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const first, second = "exceeded quota", "maximum memory usage"
		s := l.NewSpace(t)
		s.Limit(corev1.ResourcePods, 2)
		s.Create(lab.NewDeployment("web", 5, lab.Memory("2Gi")))
		s.UntilDeployment("web", "a failure", func(d *appsv1.Deployment) string {
			if cause := failure(d); !strings.Contains(cause, first) {
				return "it says: " + cause
			}
			return ""
		})
		limitMemory(s, "1Gi")
		before := len(s.PodCreates(http.StatusForbidden))
		s.Poll("several more refusals", func(context.Context) string {
			if more := len(s.PodCreates(http.StatusForbidden)) - before; more < 4 {
				return fmt.Sprintf("there were %d", more)
			}
			return ""
		})
		s.UntilWritten()
		cause := failure(s.Deployment("web"))
		for _, known := range []string{first, second} {
			if strings.Contains(cause, known) {
				return finding{fault: known == first, cell: fmt.Sprintf("the condition says %q", known)}
			}
		}
		t.Fatalf("the condition says %q", cause)
		return finding{}
	})
}

// failure is the message of ReplicaFailure.
func failure(d *appsv1.Deployment) string {
	for _, condition := range d.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure {
			return condition.Message
		}
	}
	return ""
}

// limitMemory refuses containers that may use more.
func limitMemory(s *lab.Space, most string) {
	s.T.Helper()
	limits := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(most)},
		}}},
	}
	if _, err := s.Client.CoreV1().LimitRanges(s.Name).Create(s.T.Context(), limits, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("creating a LimitRange: %v", err)
	}
}
