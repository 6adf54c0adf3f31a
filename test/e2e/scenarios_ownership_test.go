package e2e

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

// ownershipScenarios are about whose a ReplicaSet or a Pod is.
func ownershipScenarios() []scenario {
	return []scenario{
		{name: "adopt-a-replicaset-as-an-old-one", steps: func(s *space) {
			s.CreateReplicaSet(bareReplicaSet("orphan", 2, "web", func(rs *appsv1.ReplicaSet) {
				rs.Spec.Template.Spec.Containers[0].Image = "web:0"
			}))
			s.UntilReplicaSet("orphan", 2)
			s.Create(lab.NewDeployment("web", 2, atOnce()))
			s.Complete("web")
			s.Until("its Pods to be gone", func(st *lab.Story) string { return lab.WrongPods(st, 2) })
		}},
		{name: "adopt-a-replicaset-as-the-new-one", steps: func(s *space) {
			s.CreateReplicaSet(bareReplicaSet("orphan", 1, "web"))
			s.UntilReplicaSet("orphan", 1)
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
		}},
		{name: "release-a-replicaset", steps: func(s *space) {
			s.revisions(1)
			s.Kubectl("label", "replicaset/"+lab.WebReplicaSet, "app=other", "--overwrite")
			s.untilRelease(lab.WebReplicaSet)
			s.Complete("web")
		}},
		{name: "release-a-replicaset-that-never-matched", steps: func(s *space) {
			owner := s.Create(lab.NewDeployment("web", 1))
			s.CreateReplicaSet(bareReplicaSet("owned", 1, "other", func(rs *appsv1.ReplicaSet) {
				rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
			}))
			s.untilRelease("owned")
			s.UntilReplicaSet("owned", 1)
			s.Complete("web")
		}},
		{name: "release-a-pod-and-replace-it", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			released := s.Complete("web").Pods.Present()[0].Name
			s.Kubectl("label", "pod/"+released, "app-")
			s.Until("a third Pod", func(st *lab.Story) string { return lab.WrongPods(st, 3) })
			s.Complete("web")
		}},
		{name: "adopt-a-pod-and-delete-the-surplus", steps: func(s *space) {
			s.CreatePod(withCost(bare("bare", map[string]string{"app": "web"}), "1"))
			s.Until("the Pod to be ready", func(st *lab.Story) string {
				if _, ready := lab.ReadySince(st.Pods.Now["bare"]); !ready {
					return "it is not"
				}
				return ""
			})
			s.CreateReplicaSet(bareReplicaSet("web", 1, "web"))
			s.UntilReplicaSet("web", 1)
			s.CreatePod(withCost(bare("cheap", map[string]string{"app": "web"}), "-1"))
			s.Until("one Pod", func(st *lab.Story) string {
				if st.Pods.Born() < 2 {
					return "the second Pod is not seen"
				}
				return lab.WrongPods(st, 1)
			})
			s.UntilReplicaSet("web", 1)
		}},
		{name: "label-of-pods-changed", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			pods := s.Complete("web").Pods.Present()
			s.Kubectl("label", "pod/"+pods[0].Name, "more=x")
			s.Kubectl("label", "pod/"+pods[1].Name, "pod-template-hash-")
			s.Until("a third Pod", func(st *lab.Story) string { return lab.WrongPods(st, 3) })
			s.Complete("web")
		}},
	}
}

// untilRelease waits until a ReplicaSet has no owner any more.
func (s *space) untilRelease(name string) {
	s.T.Helper()
	s.Until("ReplicaSet "+name+" to be nobody's", func(st *lab.Story) string {
		rs := st.ReplicaSets.Now[name]
		if rs == nil || metav1.GetControllerOf(rs) != nil {
			return "it is not"
		}
		return ""
	})
}

// bareReplicaSet is a ReplicaSet of nobody's, with Pods as those of a Deployment of another name.
func bareReplicaSet(name string, size int32, deployment string, edits ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	rs := lab.NewReplicaSet(deployment, size)
	rs.Name = name
	for _, change := range edits {
		change(rs)
	}
	return rs
}
