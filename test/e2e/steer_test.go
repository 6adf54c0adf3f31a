package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
)

// A rollout is steered when its new Pods become ready one by one, each when the test says
// so: then there is but one order of its steps.

// unready sets an image whose Pods wait for makeOneReady.
func unready(name string) edit {
	return func(d *appsv1.Deployment) {
		image(name)(d)
		mode(localcluster.ModeNever)(d)
	}
}

// atOnce lets a rollout replace all Pods in one step.
func atOnce() edit { return rolling("100%", "100%") }

// untilEach is untilEachOf for Deployment web.
func (s *space) untilEach(want string) *story {
	s.t.Helper()
	return s.untilEachOf("web", want)
}

// untilEachOf waits until the ReplicaSets of a Deployment have the sizes in the form
// "web:1=2 web:2=1", by image, and until they and the Deployment report the Pods that
// there are.
func (s *space) untilEachOf(name, want string) *story {
	s.t.Helper()
	generation := s.deployment(name).Generation
	return s.until("the sizes "+want+" of "+name, func(st *story) string {
		d := st.deployments.now[name]
		switch sizes := tellSizes(st, name); {
		case d == nil:
			return "there is no Deployment"
		case sizes != want:
			return "they are " + sizes
		case d.Status.ObservedGeneration < generation:
			return tellDeployment(d)
		}
		return unreported(st, d)
	})
}

// tellSizes are the sizes of the ReplicaSets of a Deployment, by image. One that does not
// report its Pods yet is marked.
func tellSizes(st *story, deployment string) string {
	var sizes []string
	for _, rs := range st.replicaSets.present() {
		if owner := metav1.GetControllerOf(rs); owner == nil || owner.Name != deployment {
			continue
		}
		size := fmt.Sprintf("%s=%d", rs.Spec.Template.Spec.Containers[0].Image, *rs.Spec.Replicas)
		if rs.Status.ObservedGeneration < rs.Generation || rs.Status.Replicas != *rs.Spec.Replicas {
			size += fmt.Sprintf(" (%d)", rs.Status.Replicas)
		}
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	return strings.Join(sizes, " ")
}

// unreported says what a Deployment does not report yet of its ReplicaSets, or they of their Pods.
func unreported(st *story, d *appsv1.Deployment) string {
	var replicas, ready, available int32
	for _, rs := range st.replicaSets.present() {
		if !metav1.IsControlledBy(rs, d) {
			continue
		}
		if isReady := st.readyPodsOfReplicaSet(rs); isReady != int(rs.Status.ReadyReplicas) {
			return fmt.Sprintf("%d Pods are ready, but %s", isReady, tellReplicaSet(rs))
		}
		replicas, ready, available = replicas+rs.Status.Replicas, ready+rs.Status.ReadyReplicas, available+rs.Status.AvailableReplicas
	}
	if d.Status.Replicas != replicas || d.Status.ReadyReplicas != ready || d.Status.AvailableReplicas != available {
		return tellDeployment(d)
	}
	return ""
}

// makeOneReady makes one Pod of an image ready that is not.
func (s *space) makeOneReady(image string) {
	s.t.Helper()
	st := s.recorder.now()
	for _, pod := range st.podsOf(st.withImage(image)) {
		if _, ready := readySince(pod); !ready && pod.DeletionTimestamp == nil {
			s.makeReady(pod.Name, new(metav1.Now()))
			s.until("the Pod to be seen ready", func(st *story) string {
				if _, ready := readySince(st.pods.now[pod.Name]); !ready {
					return "it is not"
				}
				return ""
			})
			return
		}
	}
	s.t.Fatalf("there is no unready Pod of image %s", image)
}

// grow waits until the newest ReplicaSet of Deployment web is older than any that is made
// from now on. Ages are in whole seconds, and which of two is older decides where sizes tie.
func (s *space) grow() {
	s.t.Helper()
	born := s.recorder.now().newest("web").CreationTimestamp.Time
	s.poll("the next second", func(context.Context) string {
		if now := time.Now(); now.Before(born.Add(time.Second)) {
			return "it is " + clock(now)
		}
		return ""
	})
}

// untilGone waits until no object of the test is left, beside events.
func (s *space) untilGone() *story {
	s.t.Helper()
	return s.until("everything to be gone", func(st *story) string {
		if d, rs, pods := len(st.deployments.now), len(st.replicaSets.now), len(st.pods.now); d+rs+pods > 0 {
			return fmt.Sprintf("%d Deployments, %d ReplicaSets and %d Pods are left", d, rs, pods)
		}
		return ""
	})
}
