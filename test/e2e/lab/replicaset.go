package lab

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewReplicaSet is a ReplicaSet of nobody's, whose Pods are as those of the Deployment of
// the name.
func NewReplicaSet(name string, size int32) *appsv1.ReplicaSet {
	d := NewDeployment(name, size)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: d.Labels},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &size, Selector: d.Spec.Selector, Template: d.Spec.Template},
	}
}

// CreateReplicaSet creates a ReplicaSet as it is.
func (s *Space) CreateReplicaSet(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	s.T.Helper()
	created, err := s.Client.AppsV1().ReplicaSets(s.Name).Create(s.T.Context(), rs, metav1.CreateOptions{})
	if err != nil {
		s.T.Fatalf("creating ReplicaSet %s: %v", rs.Name, err)
	}
	return created
}

// UntilReplicaSet waits until a ReplicaSet has a size and so many Pods, all available.
func (s *Space) UntilReplicaSet(name string, size int32) *Story {
	s.T.Helper()
	return s.Until(fmt.Sprintf("ReplicaSet %s with %d Pods", name, size), func(st *Story) string {
		rs := st.ReplicaSets.Now[name]
		switch {
		case rs == nil:
			return "there is none"
		case rs.Status.ObservedGeneration < rs.Generation || *rs.Spec.Replicas != size,
			rs.Status.Replicas != size || rs.Status.AvailableReplicas != size,
			st.readyPodsOfReplicaSet(rs) < int(size):
			return TellReplicaSet(rs)
		}
		return ""
	})
}
