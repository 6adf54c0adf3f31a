package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newReplicaSet is a ReplicaSet of nobody's, whose Pods are as those of the Deployment of
// the name.
func newReplicaSet(name string, size int32) *appsv1.ReplicaSet {
	d := newDeployment(name, size)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: d.Labels},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &size, Selector: d.Spec.Selector, Template: d.Spec.Template},
	}
}

func (s *space) createReplicaSet(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	s.t.Helper()
	created, err := s.client.AppsV1().ReplicaSets(s.name).Create(s.t.Context(), rs, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatalf("creating ReplicaSet %s: %v", rs.Name, err)
	}
	return created
}

// untilReplicaSet waits until a ReplicaSet has a size and so many Pods, all available.
func (s *space) untilReplicaSet(name string, size int32) *story {
	s.t.Helper()
	return s.until(fmt.Sprintf("ReplicaSet %s with %d Pods", name, size), func(st *story) string {
		rs := st.replicaSets.now[name]
		switch {
		case rs == nil:
			return "there is none"
		case rs.Status.ObservedGeneration < rs.Generation || *rs.Spec.Replicas != size,
			rs.Status.Replicas != size || rs.Status.AvailableReplicas != size,
			st.readyPodsOfReplicaSet(rs) < int(size):
			return tellReplicaSet(rs)
		}
		return ""
	})
}
