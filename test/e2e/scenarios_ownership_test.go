package e2e

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownershipScenarios are about whose a ReplicaSet or a Pod is.
func ownershipScenarios() []scenario {
	return []scenario{
		{name: "adopt-a-replicaset-as-an-old-one", steps: func(s *space) {
			s.createReplicaSet(bareReplicaSet("orphan", 2, "web", func(rs *appsv1.ReplicaSet) {
				rs.Spec.Template.Spec.Containers[0].Image = "web:0"
			}))
			s.untilReplicaSet("orphan", 2)
			s.create(newDeployment("web", 2, atOnce()))
			s.complete("web")
			s.until("its Pods to be gone", func(st *story) string { return wrongPods(st, 2) })
		}},
		{name: "adopt-a-replicaset-as-the-new-one", steps: func(s *space) {
			s.createReplicaSet(bareReplicaSet("orphan", 1, "web"))
			s.untilReplicaSet("orphan", 1)
			s.create(newDeployment("web", 2))
			s.complete("web")
		}},
		{name: "release-a-replicaset", steps: func(s *space) {
			s.revisions(1)
			s.kubectl("label", "replicaset/"+webReplicaSet, "app=other", "--overwrite")
			s.untilRelease(webReplicaSet)
			s.complete("web")
		}},
		{name: "release-a-replicaset-that-never-matched", steps: func(s *space) {
			owner := s.create(newDeployment("web", 1))
			s.createReplicaSet(bareReplicaSet("owned", 1, "other", func(rs *appsv1.ReplicaSet) {
				rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
			}))
			s.untilRelease("owned")
			s.untilReplicaSet("owned", 1)
			s.complete("web")
		}},
		{name: "release-a-pod-and-replace-it", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			released := s.complete("web").pods.present()[0].Name
			s.kubectl("label", "pod/"+released, "app-")
			s.until("a third Pod", func(st *story) string { return wrongPods(st, 3) })
			s.complete("web")
		}},
		{name: "adopt-a-pod-and-delete-the-surplus", steps: func(s *space) {
			s.createPod(withCost(bare("bare", map[string]string{"app": "web"}), "1"))
			s.until("the Pod to be ready", func(st *story) string {
				if _, ready := readySince(st.pods.now["bare"]); !ready {
					return "it is not"
				}
				return ""
			})
			s.createReplicaSet(bareReplicaSet("web", 1, "web"))
			s.untilReplicaSet("web", 1)
			s.createPod(withCost(bare("cheap", map[string]string{"app": "web"}), "-1"))
			s.until("one Pod", func(st *story) string {
				if st.pods.born() < 2 {
					return "the second Pod is not seen"
				}
				return wrongPods(st, 1)
			})
			s.untilReplicaSet("web", 1)
		}},
		{name: "label-of-pods-changed", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			pods := s.complete("web").pods.present()
			s.kubectl("label", "pod/"+pods[0].Name, "more=x")
			s.kubectl("label", "pod/"+pods[1].Name, "pod-template-hash-")
			s.until("a third Pod", func(st *story) string { return wrongPods(st, 3) })
			s.complete("web")
		}},
	}
}

// untilRelease waits until a ReplicaSet has no owner any more.
func (s *space) untilRelease(name string) {
	s.t.Helper()
	s.until("ReplicaSet "+name+" to be nobody's", func(st *story) string {
		rs := st.replicaSets.now[name]
		if rs == nil || metav1.GetControllerOf(rs) != nil {
			return "it is not"
		}
		return ""
	})
}

// bareReplicaSet is a ReplicaSet of nobody's, with Pods as those of a Deployment of another name.
func bareReplicaSet(name string, size int32, deployment string, edits ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	rs := newReplicaSet(deployment, size)
	rs.Name = name
	for _, change := range edits {
		change(rs)
	}
	return rs
}
