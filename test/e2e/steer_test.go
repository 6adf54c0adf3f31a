package e2e

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// A rollout is steered when its new Pods become ready one by one, each when the test says
// so: then there is but one order of its steps.

// unready sets an image whose Pods wait for makeOneReady.
func unready(name string) lab.Edit {
	return func(d *appsv1.Deployment) {
		lab.Image(name)(d)
		lab.Mode(localcluster.ModeNever)(d)
	}
}

// atOnce lets a rollout replace all Pods in one step.
func atOnce() lab.Edit { return lab.Rolling("100%", "100%") }

// makeOneReady makes one Pod of an image ready that is not.
func (s *space) makeOneReady(image string) {
	s.T.Helper()
	st := s.Recorder.Now()
	for _, pod := range st.PodsOf(st.WithImage(image)) {
		if _, ready := lab.ReadySince(pod); !ready && pod.DeletionTimestamp == nil {
			s.MakeReady(pod.Name, new(metav1.Now()))
			s.Until("the Pod to be seen ready", func(st *lab.Story) string {
				if _, ready := lab.ReadySince(st.Pods.Now[pod.Name]); !ready {
					return "it is not"
				}
				return ""
			})
			return
		}
	}
	s.T.Fatalf("there is no unready Pod of image %s", image)
}

// grow waits until the newest ReplicaSet of Deployment web is older than any that is made
// from now on. Ages are in whole seconds, and which of two is older decides where sizes tie.
func (s *space) grow() {
	s.T.Helper()
	born := s.Recorder.Now().Newest("web").CreationTimestamp.Time
	s.Poll("the next second", func(context.Context) string {
		if now := time.Now(); now.Before(born.Add(time.Second)) {
			return "it is " + lab.Clock(now)
		}
		return ""
	})
}

// untilGone waits until no object of the test is left, beside events.
func (s *space) untilGone() *lab.Story {
	s.T.Helper()
	return s.Until("everything to be gone", func(st *lab.Story) string {
		if d, rs, pods := len(st.Deployments.Now), len(st.ReplicaSets.Now), len(st.Pods.Now); d+rs+pods > 0 {
			return fmt.Sprintf("%d Deployments, %d ReplicaSets and %d Pods are left", d, rs, pods)
		}
		return ""
	})
}
