package lab

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LetGo takes the finalizer off all Pods.
func (s *Space) LetGo() {
	s.T.Helper()
	for _, pod := range s.Recorder.Now().Pods.Present() {
		s.PatchPod(pod.Name, `{"metadata":{"finalizers":null}}`)
	}
}

// MakeReady makes a Pod Running and Ready, since a time or since nobody knows when.
func (s *Space) MakeReady(name string, since *metav1.Time) {
	s.T.Helper()
	conditions := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if since != nil {
		conditions[0].LastTransitionTime = *since
	}
	s.PatchPod(name, fmt.Sprintf(`{"status":{"phase":"Running","conditions":%s}}`, Encode(s.T, conditions)), "status")
}

// CreatePod creates a Pod as it is.
func (s *Space) CreatePod(pod *corev1.Pod) {
	s.T.Helper()
	if _, err := s.Client.CoreV1().Pods(s.Name).Create(s.T.Context(), pod, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("creating Pod %s: %v", pod.Name, err)
	}
}

// WrongPods says how the number of Pods differs from the wanted one, if it does.
func WrongPods(st *Story, want int32) string {
	if got := len(st.Pods.Now); got != int(want) {
		return fmt.Sprintf("there are %d Pods, want %d", got, want)
	}
	return ""
}

// MakeUnready makes a ready Pod unready for good; KWOK leaves it so.
func (s *Space) MakeUnready(name string) {
	s.T.Helper()
	s.PatchReady(name, corev1.ConditionFalse)
}

// PatchReady sets the condition Ready of a Pod, and leaves its times as they are.
func (s *Space) PatchReady(name string, status corev1.ConditionStatus) {
	s.T.Helper()
	pod := s.Recorder.Now().Pods.Now[name]
	conditions := slices.Clone(pod.Status.Conditions)
	for i := range conditions {
		if conditions[i].Type == corev1.PodReady {
			conditions[i].Status = status
		}
	}
	s.PatchPod(name, fmt.Sprintf(`{"status":{"conditions":%s}}`, Encode(s.T, conditions)), "status")
}

// Encode is a value as JSON.
func Encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
