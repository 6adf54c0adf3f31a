package e2e

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"

	"controller-manager/test/e2e/lab"
)

// The tests in this file change a Deployment faster than its Pods can follow.

// TestABurstOfTemplatesStaysWithinTheBounds: none of the revisions is waited for.
// kubernetes#19299, #22719, #21810.
func TestABurstOfTemplatesStaysWithinTheBounds(t *testing.T) {
	t.Parallel()
	const last = 20
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 6, lab.Rolling("1", "1"), lab.HistoryLimit(2)))
	s.Complete("web")
	s.Within(lab.Bounds{Most: 7, Least: 5}, func() {
		for i := 2; i <= last; i++ {
			s.Edit("web", lab.Image(fmt.Sprintf("web:%d", i)))
		}
		s.Complete("web")
	})
	st := s.Until("the history to be trimmed", func(st *lab.Story) string { return wrongReplicaSets(st, 1+2) })
	if got := st.SizeOf(fmt.Sprintf("web:%d", last)); got != 6 || st.SumOfSizes() != 6 {
		t.Errorf("the last template's ReplicaSet has size %d of %d together, want 6 of 6", got, st.SumOfSizes())
	}
	highest := 0
	for _, sighting := range st.ReplicaSets.Seen {
		if sighting.Change != watch.Added {
			continue
		}
		if got := lab.RevisionOf(sighting.Object); got != highest+1 {
			t.Errorf("after revision %d came revision %d", highest, got)
		}
		highest++
	}
	if got := lab.RevisionOf(st.Deployments.Now["web"]); got != highest {
		t.Errorf("the Deployment has revision %d, want %d", got, highest)
	}
}

// TestAnAutoscalerAndAnApplyInTheMiddleOfARollout: every size that is asked for counts,
// through the subresource that autoscalers use as through a manifest, and the rollout
// ends all the same. kubernetes#25238, #67135, #84142.
func TestAnAutoscalerAndAnApplyInTheMiddleOfARollout(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	manifest := func(image string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3,
			"selector":{"matchLabels":{"app":"web"}},"minReadySeconds":1,
			"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}},
			"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"` + image + `"}]}}}}`
	}
	s.apply(manifest("web:1"))
	s.Complete("web")
	// The largest size is 10, the smallest 3.
	s.Within(lab.Bounds{Most: 10 + 1, Least: 3 - 1, Scaled: true}, func() {
		s.apply(manifest("web:2"))
		s.UntilNewest("web", 2)
		s.scaleTo(10)
		st := s.Complete("web")
		s.wantSizedFor(st, 10)

		s.apply(manifest("web:3"))
		s.UntilNewest("web", 3)
		for i := range 10 {
			s.scaleTo([]int32{8, 5}[i%2])
			s.untilSized([]int32{8, 5}[i%2])
		}
		s.wantSizedFor(s.Complete("web"), 5)
	})
	scale := s.scale()
	if scale.Status.Selector != "app=web" || scale.Status.Replicas != 5 {
		t.Errorf("an autoscaler sees the selector %q and %d replicas, want app=web and 5", scale.Status.Selector, scale.Status.Replicas)
	}
}

func (s *space) apply(manifest string, flags ...string) {
	s.T.Helper()
	s.Kubectl(append([]string{"apply", "-f", writeFile(s.T, s.T.TempDir(), manifest)}, flags...)...)
}

func (s *space) scale() *autoscalingv1.Scale {
	s.T.Helper()
	scale, err := s.Client.AppsV1().Deployments(s.Name).GetScale(s.T.Context(), "web", metav1.GetOptions{})
	if err != nil {
		s.T.Fatalf("reading the scale: %v", err)
	}
	return scale
}

// scaleTo sets the size as an autoscaler does.
func (s *space) scaleTo(size int32) {
	s.T.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale := s.scale()
		scale.Spec.Replicas = size
		_, err := s.Client.AppsV1().Deployments(s.Name).UpdateScale(context.WithoutCancel(s.T.Context()), "web", scale, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.T.Fatalf("scaling to %d: %v", size, err)
	}
}

// untilSized waits until all active ReplicaSets have been sized for a size.
func (s *space) untilSized(size int32) {
	s.T.Helper()
	s.Until(fmt.Sprintf("the size %d to be taken", size), func(st *lab.Story) string { return wrongSizedFor(st, size) })
}

func (s *space) wantSizedFor(st *lab.Story, size int32) {
	s.T.Helper()
	if wrong := wrongSizedFor(st, size); wrong != "" {
		s.T.Error(wrong)
	}
}

// wrongSizedFor says which active ReplicaSet was last sized for another size, if one was.
func wrongSizedFor(st *lab.Story, size int32) string {
	for _, rs := range st.ReplicaSets.Present() {
		if got := desiredReplicas(rs); *rs.Spec.Replicas > 0 && got != fmt.Sprint(size) {
			return fmt.Sprintf("ReplicaSet %s was sized for %s, want %d", rs.Name, got, size)
		}
	}
	return ""
}

// desiredReplicas is the Deployment's size that a ReplicaSet was last sized for.
func desiredReplicas(rs *appsv1.ReplicaSet) string {
	return rs.Annotations["deployment.kubernetes.io/desired-replicas"]
}
