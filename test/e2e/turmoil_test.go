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
)

// The tests in this file change a Deployment faster than its Pods can follow.

// TestABurstOfTemplatesStaysWithinTheBounds: none of the revisions is waited for.
// kubernetes#19299, #22719, #21810.
func TestABurstOfTemplatesStaysWithinTheBounds(t *testing.T) {
	t.Parallel()
	const last = 20
	s := newSpace(t)
	s.create(newDeployment("web", 6, rolling("1", "1"), historyLimit(2)))
	s.complete("web")
	s.within(bounds{most: 7, least: 5}, func() {
		for i := 2; i <= last; i++ {
			s.edit("web", image(fmt.Sprintf("web:%d", i)))
		}
		s.complete("web")
	})
	st := s.until("the history to be trimmed", func(st *story) string { return wrongReplicaSets(st, 1+2) })
	if got := st.sizeOf(fmt.Sprintf("web:%d", last)); got != 6 || st.sumOfSizes() != 6 {
		t.Errorf("the last template's ReplicaSet has size %d of %d together, want 6 of 6", got, st.sumOfSizes())
	}
	highest := 0
	for _, sighting := range st.replicaSets.seen {
		if sighting.change != watch.Added {
			continue
		}
		if got := revisionOf(sighting.object); got != highest+1 {
			t.Errorf("after revision %d came revision %d", highest, got)
		}
		highest++
	}
	if got := revisionOf(st.deployments.now["web"]); got != highest {
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
	s.complete("web")
	// The largest size is 10, the smallest 3.
	s.within(bounds{most: 10 + 1, least: 3 - 1, scaled: true}, func() {
		s.apply(manifest("web:2"))
		s.untilNewest("web", 2)
		s.scaleTo(10)
		st := s.complete("web")
		s.wantSizedFor(st, 10)

		s.apply(manifest("web:3"))
		s.untilNewest("web", 3)
		for i := range 10 {
			s.scaleTo([]int32{8, 5}[i%2])
			s.untilSized([]int32{8, 5}[i%2])
		}
		s.wantSizedFor(s.complete("web"), 5)
	})
	scale := s.scale()
	if scale.Status.Selector != "app=web" || scale.Status.Replicas != 5 {
		t.Errorf("an autoscaler sees the selector %q and %d replicas, want app=web and 5", scale.Status.Selector, scale.Status.Replicas)
	}
}

func (s *space) apply(manifest string, flags ...string) {
	s.t.Helper()
	s.kubectl(append([]string{"apply", "-f", writeFile(s.t, s.t.TempDir(), manifest)}, flags...)...)
}

func (s *space) scale() *autoscalingv1.Scale {
	s.t.Helper()
	scale, err := s.client.AppsV1().Deployments(s.name).GetScale(s.t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		s.t.Fatalf("reading the scale: %v", err)
	}
	return scale
}

// scaleTo sets the size as an autoscaler does.
func (s *space) scaleTo(size int32) {
	s.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale := s.scale()
		scale.Spec.Replicas = size
		_, err := s.client.AppsV1().Deployments(s.name).UpdateScale(context.WithoutCancel(s.t.Context()), "web", scale, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.t.Fatalf("scaling to %d: %v", size, err)
	}
}

// untilSized waits until all active ReplicaSets have been sized for a size.
func (s *space) untilSized(size int32) {
	s.t.Helper()
	s.until(fmt.Sprintf("the size %d to be taken", size), func(st *story) string { return wrongSizedFor(st, size) })
}

func (s *space) wantSizedFor(st *story, size int32) {
	s.t.Helper()
	if wrong := wrongSizedFor(st, size); wrong != "" {
		s.t.Error(wrong)
	}
}

// wrongSizedFor says which active ReplicaSet was last sized for another size, if one was.
func wrongSizedFor(st *story, size int32) string {
	for _, rs := range st.replicaSets.present() {
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
