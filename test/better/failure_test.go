package better

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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

// TestAQuotaThatBecomesFree: kubernetes#98656. Pods are refused for a while; then others go.
func TestAQuotaThatBecomesFree(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		// Waits double: after one of 20 seconds comes one of 40, or the longest.
		const size, lately, longest = 2, 20 * time.Second, 30 * time.Second
		s := l.NewSpace(t)
		s.Limit(corev1.ResourcePods, size)
		s.Create(lab.NewDeployment("others", size, lab.Image("others:1")))
		s.Complete("others")
		s.Create(lab.NewDeployment("web", size))
		s.Poll("two tries that are far apart", func(context.Context) string {
			tries := s.PodCreates(http.StatusForbidden)
			if n := len(tries); n < 2 || tries[n-1].Received.Sub(tries[n-2].Received) < lately {
				return fmt.Sprintf("there were %d", n)
			}
			return ""
		})
		s.Edit("others", lab.Replicas(0))
		s.Until("the other Pods to go", func(st *lab.Story) string {
			if len(st.PodsOf(st.WithImage("others:1"))) > 0 {
				return "they are there"
			}
			return ""
		})
		free := time.Now()
		s.Until("a Pod", func(st *lab.Story) string {
			if len(st.PodsOf(st.WithImage("web:1"))) == 0 {
				return "there is none"
			}
			return ""
		})
		waited := time.Since(free)
		found := finding{cell: "a Pod is made within half a minute", counted: fmt.Sprintf("after %.1f s", waited.Seconds())}
		if waited > longest {
			found.fault, found.cell = true, "a Pod is made more than half a minute after there is room"
		}
		return found
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
