package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The tests in this file are about requests that the API server refuses for good reason.

// failedCreates are the events about Pods that were refused to the ReplicaSet web, and how
// often they were told.
func failedCreates(st *story) (events, times int) {
	for _, event := range st.events.present() {
		if event.Reason == "FailedCreate" && event.InvolvedObject.Kind == "ReplicaSet" {
			events++
			times += int(max(1, event.Count))
		}
	}
	return events, times
}

// TestAFullQuotaCostsFewRequestsAndEvents: a thousand Pods that are refused are neither
// asked for nor told of one by one. What 5 minutes of it cost is a test of the loop.
// kubernetes#49145, #47366, #16600, PR kubernetes#49142, #47367, openshift/origin#10407.
func TestAFullQuotaCostsFewRequestsAndEvents(t *testing.T) {
	t.Parallel()
	const allowed = 5
	s := newSpace(t)
	s.limit(corev1.ResourcePods, allowed)
	s.create(newDeployment("web", 1000))
	st := s.until("several refusals to be told", func(st *story) string {
		if _, times := failedCreates(st); times < 8 {
			return fmt.Sprintf("%d were", times)
		}
		return wrongPods(st, allowed)
	})
	if got := len(s.podCreates(http.StatusForbidden)); got >= 40 {
		t.Errorf("%d creates were refused, want less than 40", got)
	}
	if events, times := failedCreates(st); events >= 10 {
		t.Errorf("%d events tell of %d refusals, want less than 10", events, times)
	}
	s.untilCondition("web", appsv1.DeploymentReplicaFailure, "True FailedCreate")
}

// TestAFailureIsReportedByItsLatestCauseAndWithoutGaps: the condition stays as long as Pods
// are refused, and says why now. kubernetes#127081, #32863.
func TestAFailureIsReportedByItsLatestCauseAndWithoutGaps(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.notOurs("the built-in loops keep the first message, which is a known difference") {
		return
	}
	s.limit(corev1.ResourcePods, 2)
	s.create(newDeployment("web", 5, memory("2Gi")))
	s.untilFailure("exceeded quota")
	gaps := s.recorder.enforce("the condition stays", func(st *story) error {
		for _, rs := range st.replicaSets.present() {
			if len(rs.Status.Conditions) == 0 {
				return fmt.Errorf("ReplicaSet %s has no condition", rs.Name)
			}
		}
		return nil
	})
	limits := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}}},
	}
	if _, err := s.client.CoreV1().LimitRanges(s.name).Create(t.Context(), limits, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a LimitRange: %v", err)
	}
	s.untilFailure("maximum memory usage")
	if err := s.recorder.repeal(gaps); err != nil {
		t.Error(err)
	}
}

func memory(request string) edit {
	return func(d *appsv1.Deployment) {
		amount := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)}
		d.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amount, Limits: amount}
	}
}

// untilFailure waits until the Deployment reports a failure with a cause.
func (s *space) untilFailure(cause string) {
	s.t.Helper()
	s.untilDeployment("web", "a failure for "+cause, func(d *appsv1.Deployment) string {
		if short, message := conditionOf(d, appsv1.DeploymentReplicaFailure); short != "True FailedCreate" || !strings.Contains(message, cause) {
			return fmt.Sprintf("condition %q: %s", short, message)
		}
		return ""
	})
}

// TestAReplicaSetThatIsRefusedIsTold: and made as soon as it may be. PR kubernetes#101142,
// kubernetes#8667.
func TestAReplicaSetThatIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	const few = "count/replicasets.apps"
	s := newSpace(t)
	s.limit(few, 0)
	s.create(newDeployment("web", 1))
	s.untilCondition("web", appsv1.DeploymentProgressing, "False ReplicaSetCreateError")
	st := s.until("an event about it", func(st *story) string {
		for _, line := range st.eventsAbout("Deployment", "web") {
			if strings.HasPrefix(line, `deployment-controller Warning ReplicaSetCreateError: Failed to create new replica set "`+webReplicaSet+`": `) {
				return ""
			}
		}
		return "there is none"
	})
	_, message := conditionOf(st.deployments.now["web"], appsv1.DeploymentProgressing)
	if !strings.HasPrefix(message, `Failed to create new replica set "`+webReplicaSet+`": `) || !strings.Contains(message, "exceeded quota") {
		t.Errorf("the condition says %q", message)
	}
	if said := s.kubectl("describe", "deployment/web"); !strings.Contains(said, "ReplicaSetCreateError") || !strings.Contains(said, "deployment-controller") {
		t.Errorf("kubectl describe says nothing of it:\n%s", said)
	}
	s.unlimit()
	s.complete("web")
}

// TestANamespaceThatIsBeingDeletedIsLeftInPeace: nothing can be created there, so it is not
// tried again and again; and a namespace of the same name, later, is another one.
// kubernetes#38612, PR kubernetes#84123.
func TestANamespaceThatIsBeingDeletedIsLeftInPeace(t *testing.T) {
	t.Parallel()
	const sets, size = 4, 3
	s := newSpace(t)
	for i := range sets {
		s.create(newDeployment(fmt.Sprintf("web-%d", i), size, held()))
	}
	for i := range sets {
		s.complete(fmt.Sprintf("web-%d", i))
	}
	if err := s.client.CoreV1().Namespaces().Delete(t.Context(), s.name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the namespace: %v", err)
	}
	s.until("all Pods to be Terminating", stillWanted)
	s.poll("a refusal", func(context.Context) string {
		if len(s.podCreates(http.StatusForbidden)) == 0 {
			return "nothing was refused"
		}
		return ""
	})
	s.untilWritten()
	mark := s.lab.mark(t)
	s.untilWritten()
	for _, write := range s.writes(mark) {
		t.Errorf("a write to a namespace that is going: %s", describe(write))
	}
	// Each Pod's going can wake its ReplicaSet once, and each of those tries one create.
	if got := len(s.podCreates(http.StatusForbidden)); got > sets*size {
		t.Errorf("%d creates were refused, want %d at the most", got, sets*size)
	}
	s.letGo()
	s.poll("the namespace to be gone", func(ctx context.Context) string {
		_, err := s.client.CoreV1().Namespaces().Get(ctx, s.name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("it is there, %v", err)
		}
		return ""
	})
	s.makeAgain()
	s.create(newDeployment("web-0", size))
	s.complete("web-0")
}
