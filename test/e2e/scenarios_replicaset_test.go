package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
)

// replicaSetScenarios are about ReplicaSets that belong to no Deployment.
func replicaSetScenarios() []scenario {
	return []scenario{
		{name: "replicaset", steps: func(s *space) { s.resizeReplicaSet(3) }},
		{name: "replicaset-scaled", steps: func(s *space) { s.resizeReplicaSet(1, 4, 0, 2) }},
		{name: "replicaset-with-min-ready-seconds", steps: func(s *space) {
			s.createBare(bareReplicaSet("bare", 2, "web", func(rs *appsv1.ReplicaSet) { rs.Spec.MinReadySeconds = 1 }))
		}},
		{name: "replicaset-whose-template-changes", steps: func(s *space) {
			s.resizeReplicaSet(1)
			s.kubectl("set", "image", "replicaset/bare", "web=web:2")
			s.kubectl("scale", "replicaset/bare", "--replicas=2")
			s.untilReplicaSet("bare", 2)
		}},
		{name: "replicaset-with-never-ready-pods", steps: func(s *space) {
			s.createReplicaSet(bareReplicaSet("bare", 2, "web", func(rs *appsv1.ReplicaSet) {
				rs.Spec.Template.Labels[localcluster.ModeLabel] = localcluster.ModeNever
			}))
			s.until("its Pods to be counted", func(st *story) string {
				if rs := st.replicaSets.now["bare"]; rs == nil || rs.Status.Replicas != 2 {
					return "they are not"
				}
				return ""
			})
		}},
		{name: "replicaset-refused-by-a-quota", uncounted: refusals(), steps: func(s *space) {
			s.limit(corev1.ResourcePods, 1)
			s.createReplicaSet(bareReplicaSet("bare", 3, "web"))
			s.until("the refusal to be reported", func(st *story) string {
				if rs := st.replicaSets.now["bare"]; rs == nil || len(rs.Status.Conditions) == 0 {
					return "it is not"
				}
				return wrongPods(st, 1)
			})
		}},
		{name: "replicaset-orphaning-its-pods", steps: func(s *space) {
			s.resizeReplicaSet(2)
			s.kubectl("delete", "replicaset/bare", "--cascade=orphan")
			s.until("the ReplicaSet to be gone", func(st *story) string {
				if len(st.replicaSets.now) > 0 {
					return "it is not"
				}
				return ""
			})
			s.createReplicaSet(bareReplicaSet("bare", 2, "web"))
			s.untilReplicaSet("bare", 2)
		}},
		{name: "replicaset-with-other-labels-than-its-pods", steps: func(s *space) {
			s.createBare(bareReplicaSet("bare", 1, "web", func(rs *appsv1.ReplicaSet) {
				rs.Labels = map[string]string{"a": "b"}
				rs.Annotations = map[string]string{"note": "x"}
				rs.Spec.Template.Labels["more"] = "x"
			}))
			s.kubectl("label", "pod", "--all", "more-")
			s.until("the Pod not to be fully labeled", func(st *story) string {
				if rs := st.replicaSets.now["bare"]; rs == nil || rs.Status.FullyLabeledReplicas != 0 {
					return "it is"
				}
				return ""
			})
		}},
	}
}

// resizeReplicaSet creates the ReplicaSet bare and gives it one size after the other.
func (s *space) resizeReplicaSet(first int32, sizes ...int32) {
	s.t.Helper()
	s.createBare(bareReplicaSet("bare", first, "web"))
	for _, size := range sizes {
		s.kubectl("scale", "replicaset/bare", fmt.Sprintf("--replicas=%d", size))
		s.untilReplicaSet("bare", size)
		s.until(fmt.Sprintf("%d Pods", size), func(st *story) string { return wrongPods(st, size) })
	}
}

// createBare creates a ReplicaSet and waits for its Pods.
func (s *space) createBare(rs *appsv1.ReplicaSet) {
	s.t.Helper()
	s.createReplicaSet(rs)
	s.untilReplicaSet(rs.Name, *rs.Spec.Replicas)
}
