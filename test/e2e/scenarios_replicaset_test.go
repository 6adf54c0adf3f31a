package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
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
			s.Kubectl("set", "image", "replicaset/bare", "web=web:2")
			s.Kubectl("scale", "replicaset/bare", "--replicas=2")
			s.UntilReplicaSet("bare", 2)
		}},
		{name: "replicaset-with-never-ready-pods", steps: func(s *space) {
			s.CreateReplicaSet(bareReplicaSet("bare", 2, "web", func(rs *appsv1.ReplicaSet) {
				rs.Spec.Template.Labels[localcluster.ModeLabel] = localcluster.ModeNever
			}))
			s.Until("its Pods to be counted", func(st *lab.Story) string {
				if rs := st.ReplicaSets.Now["bare"]; rs == nil || rs.Status.Replicas != 2 {
					return "they are not"
				}
				return ""
			})
		}},
		{name: "replicaset-refused-by-a-quota", uncounted: refusals(), steps: func(s *space) {
			s.Limit(corev1.ResourcePods, 1)
			s.CreateReplicaSet(bareReplicaSet("bare", 3, "web"))
			s.Until("the refusal to be reported", func(st *lab.Story) string {
				if rs := st.ReplicaSets.Now["bare"]; rs == nil || len(rs.Status.Conditions) == 0 {
					return "it is not"
				}
				return lab.WrongPods(st, 1)
			})
		}},
		{name: "replicaset-orphaning-its-pods", steps: func(s *space) {
			s.resizeReplicaSet(2)
			s.Kubectl("delete", "replicaset/bare", "--cascade=orphan")
			s.Until("the ReplicaSet to be gone", func(st *lab.Story) string {
				if len(st.ReplicaSets.Now) > 0 {
					return "it is not"
				}
				return ""
			})
			s.CreateReplicaSet(bareReplicaSet("bare", 2, "web"))
			s.UntilReplicaSet("bare", 2)
		}},
		{name: "replicaset-with-other-labels-than-its-pods", steps: func(s *space) {
			s.createBare(bareReplicaSet("bare", 1, "web", func(rs *appsv1.ReplicaSet) {
				rs.Labels = map[string]string{"a": "b"}
				rs.Annotations = map[string]string{"note": "x"}
				rs.Spec.Template.Labels["more"] = "x"
			}))
			s.Kubectl("label", "pod", "--all", "more-")
			s.Until("the Pod not to be fully labeled", func(st *lab.Story) string {
				if rs := st.ReplicaSets.Now["bare"]; rs == nil || rs.Status.FullyLabeledReplicas != 0 {
					return "it is"
				}
				return ""
			})
		}},
	}
}

// resizeReplicaSet creates the ReplicaSet bare and gives it one size after the other.
func (s *space) resizeReplicaSet(first int32, sizes ...int32) {
	s.T.Helper()
	s.createBare(bareReplicaSet("bare", first, "web"))
	for _, size := range sizes {
		s.Kubectl("scale", "replicaset/bare", fmt.Sprintf("--replicas=%d", size))
		s.UntilReplicaSet("bare", size)
		s.Until(fmt.Sprintf("%d Pods", size), func(st *lab.Story) string { return lab.WrongPods(st, size) })
	}
}

// createBare creates a ReplicaSet and waits for its Pods.
func (s *space) createBare(rs *appsv1.ReplicaSet) {
	s.T.Helper()
	s.CreateReplicaSet(rs)
	s.UntilReplicaSet(rs.Name, *rs.Spec.Replicas)
}
