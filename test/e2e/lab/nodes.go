package lab

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SizeOf is the size of the ReplicaSet with an image; -1 without one.
func (st *Story) SizeOf(image string) int32 {
	if rs := st.WithImage(image); rs != nil {
		return *rs.Spec.Replicas
	}
	return -1
}

// LabelNodes gives n nodes a label with the namespace's name.
func (s *Space) LabelNodes(n int) {
	s.T.Helper()
	nodes := s.Client.CoreV1().Nodes()
	label := func(ctx context.Context, node, value string) error {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, s.Name, value)
		_, err := nodes.Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	for i := range n {
		node := fmt.Sprintf("kwok-node-%d", i)
		if err := label(s.T.Context(), node, `""`); err != nil {
			s.T.Fatalf("labeling Node %s: %v", node, err)
		}
		s.T.Cleanup(func() {
			if err := label(context.WithoutCancel(s.T.Context()), node, "null"); err != nil {
				s.T.Errorf("taking the label off Node %s: %v", node, err)
			}
		})
	}
}

// OneToANode keeps the Pods on the nodes with a label, and from each other's.
func OneToANode(label string) Edit {
	return func(d *appsv1.Deployment) {
		spec := &d.Spec.Template.Spec
		spec.NodeSelector = map[string]string{label: ""}
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				LabelSelector: d.Spec.Selector, TopologyKey: corev1.LabelHostname,
			}},
		}}
	}
}
