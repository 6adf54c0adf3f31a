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

	"controller-manager/test/e2e/lab"
)

// The tests in this file are about requests that the API server refuses for good reason.

// failedCreates are the events about Pods that were refused to the ReplicaSet web, and how
// often they were told.
func failedCreates(st *lab.Story) (events, times int) {
	for _, event := range st.Events.Present() {
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
	s.Limit(corev1.ResourcePods, allowed)
	s.Create(lab.NewDeployment("web", 1000))
	st := s.Until("several refusals to be told", func(st *lab.Story) string {
		if _, times := failedCreates(st); times < 8 {
			return fmt.Sprintf("%d were", times)
		}
		return lab.WrongPods(st, allowed)
	})
	if got := len(s.PodCreates(http.StatusForbidden)); got >= 40 {
		t.Errorf("%d creates were refused, want less than 40", got)
	}
	if events, times := failedCreates(st); events >= 10 {
		t.Errorf("%d events tell of %d refusals, want less than 10", events, times)
	}
	s.UntilCondition("web", appsv1.DeploymentReplicaFailure, "True FailedCreate")
}

// TestAFailureIsReportedByItsLatestCauseAndWithoutGaps: the condition stays as long as Pods
// are refused, and says why now. kubernetes#127081, #32863.
func TestAFailureIsReportedByItsLatestCauseAndWithoutGaps(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("the built-in loops keep the first message, which is a known difference") {
		return
	}
	s.Limit(corev1.ResourcePods, 2)
	s.Create(lab.NewDeployment("web", 5, lab.Memory("2Gi")))
	s.untilFailure("exceeded quota")
	gaps := s.Recorder.Enforce("the condition stays", func(st *lab.Story) error {
		for _, rs := range st.ReplicaSets.Present() {
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
	if _, err := s.Client.CoreV1().LimitRanges(s.Name).Create(t.Context(), limits, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a LimitRange: %v", err)
	}
	s.untilFailure("maximum memory usage")
	if err := s.Recorder.Repeal(gaps); err != nil {
		t.Error(err)
	}
}

// untilFailure waits until the Deployment reports a failure with a cause.
func (s *space) untilFailure(cause string) {
	s.T.Helper()
	s.UntilDeployment("web", "a failure for "+cause, func(d *appsv1.Deployment) string {
		if short, message := lab.ConditionOf(d, appsv1.DeploymentReplicaFailure); short != "True FailedCreate" || !strings.Contains(message, cause) {
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
	s.Limit(few, 0)
	s.Create(lab.NewDeployment("web", 1))
	s.UntilCondition("web", appsv1.DeploymentProgressing, "False ReplicaSetCreateError")
	st := s.Until("an event about it", func(st *lab.Story) string {
		for _, line := range st.EventsAbout("Deployment", "web") {
			if strings.HasPrefix(line, `deployment-controller Warning ReplicaSetCreateError: Failed to create new replica set "`+lab.WebReplicaSet+`": `) {
				return ""
			}
		}
		return "there is none"
	})
	_, message := lab.ConditionOf(st.Deployments.Now["web"], appsv1.DeploymentProgressing)
	if !strings.HasPrefix(message, `Failed to create new replica set "`+lab.WebReplicaSet+`": `) || !strings.Contains(message, "exceeded quota") {
		t.Errorf("the condition says %q", message)
	}
	if said := s.Kubectl("describe", "deployment/web"); !strings.Contains(said, "ReplicaSetCreateError") || !strings.Contains(said, "deployment-controller") {
		t.Errorf("kubectl describe says nothing of it:\n%s", said)
	}
	s.Unlimit()
	s.Complete("web")
}

// TestANamespaceThatIsBeingDeletedIsLeftInPeace: nothing can be created there, so it is not
// tried again and again; and a namespace of the same name, later, is another one.
// kubernetes#38612, PR kubernetes#84123.
func TestANamespaceThatIsBeingDeletedIsLeftInPeace(t *testing.T) {
	t.Parallel()
	const sets, size = 4, 3
	s := newSpace(t)
	for i := range sets {
		s.Create(lab.NewDeployment(fmt.Sprintf("web-%d", i), size, lab.Held()))
	}
	for i := range sets {
		s.Complete(fmt.Sprintf("web-%d", i))
	}
	if err := s.Client.CoreV1().Namespaces().Delete(t.Context(), s.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the namespace: %v", err)
	}
	s.Until("all Pods to be Terminating", lab.StillWanted)
	s.Poll("a refusal", func(context.Context) string {
		if len(s.PodCreates(http.StatusForbidden)) == 0 {
			return "nothing was refused"
		}
		return ""
	})
	s.UntilWritten()
	mark := s.Lab.Mark(t)
	s.UntilWritten()
	for _, write := range s.Writes(mark) {
		t.Errorf("a write to a namespace that is going: %s", lab.Describe(write))
	}
	// Each Pod's going can wake its ReplicaSet once, and each of those tries one create.
	if got := len(s.PodCreates(http.StatusForbidden)); got > sets*size {
		t.Errorf("%d creates were refused, want %d at the most", got, sets*size)
	}
	s.LetGo()
	s.Poll("the namespace to be gone", func(ctx context.Context) string {
		_, err := s.Client.CoreV1().Namespaces().Get(ctx, s.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("it is there, %v", err)
		}
		return ""
	})
	s.MakeAgain()
	s.Create(lab.NewDeployment("web-0", size))
	s.Complete("web-0")
}
