package lab

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UntilEach is untilEachOf for Deployment web.
func (s *Space) UntilEach(want string) *Story {
	s.T.Helper()
	return s.UntilEachOf("web", want)
}

// UntilEachOf waits until the ReplicaSets of a Deployment have the sizes in the form
// "web:1=2 web:2=1", by image, and until they and the Deployment report the Pods that
// there are.
func (s *Space) UntilEachOf(name, want string) *Story {
	s.T.Helper()
	generation := s.Deployment(name).Generation
	return s.Until("the sizes "+want+" of "+name, func(st *Story) string {
		d := st.Deployments.Now[name]
		switch sizes := TellSizes(st, name); {
		case d == nil:
			return "there is no Deployment"
		case sizes != want:
			return "they are " + sizes
		case d.Status.ObservedGeneration < generation:
			return TellDeployment(d)
		}
		return unreported(st, d)
	})
}

// TellSizes are the sizes of the ReplicaSets of a Deployment, by image. One that does not
// report its Pods yet is marked.
func TellSizes(st *Story, deployment string) string {
	var sizes []string
	for _, rs := range st.ReplicaSets.Present() {
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
func unreported(st *Story, d *appsv1.Deployment) string {
	var replicas, ready, available int32
	for _, rs := range st.ReplicaSets.Present() {
		if !metav1.IsControlledBy(rs, d) {
			continue
		}
		if isReady := st.readyPodsOfReplicaSet(rs); isReady != int(rs.Status.ReadyReplicas) {
			return fmt.Sprintf("%d Pods are ready, but %s", isReady, TellReplicaSet(rs))
		}
		replicas, ready, available = replicas+rs.Status.Replicas, ready+rs.Status.ReadyReplicas, available+rs.Status.AvailableReplicas
	}
	if d.Status.Replicas != replicas || d.Status.ReadyReplicas != ready || d.Status.AvailableReplicas != available {
		return TellDeployment(d)
	}
	return ""
}
