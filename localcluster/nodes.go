package localcluster

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// nodeLabel marks our nodes.
const nodeLabel = "lab.controller-manager/node"

// createNodes makes n nodes with room for more pods than any test has. Resource
// requests are what limits a pod count to a real node; here nothing should.
func createNodes(ctx context.Context, client kubernetes.Interface, n int) error {
	for i := range n {
		node := newNode(fmt.Sprintf("kwok-node-%d", i))
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating Node %s: %w", node.Name, err)
		}
	}
	return nil
}

func newNode(name string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods:   resource.MustParse("10000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				nodeLabel:              "",
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: runtime.GOARCH,
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			NodeInfo: corev1.NodeSystemInfo{
				OperatingSystem:         "linux",
				Architecture:            runtime.GOARCH,
				KubeletVersion:          Kwok,
				ContainerRuntimeVersion: Kwok,
			},
		},
	}
}

// nodesReady is a probe: all n nodes are Ready and, where kube-controller-manager
// runs to see it, free of the taint that keeps pods from a node that is not.
func nodesReady(client kubernetes.Interface, n int, tainted bool) func(context.Context) error {
	return func(ctx context.Context) error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: nodeLabel})
		if err != nil {
			return fmt.Errorf("listing nodes: %w", err)
		}
		if len(nodes.Items) < n {
			return fmt.Errorf("%d of %d nodes exist", len(nodes.Items), n)
		}
		for _, node := range nodes.Items {
			if !nodeIsReady(node) {
				return fmt.Errorf("node %s is not ready", node.Name)
			}
			if !tainted && len(node.Spec.Taints) > 0 {
				return fmt.Errorf("node %s has the taint %s", node.Name, node.Spec.Taints[0].Key)
			}
		}
		return nil
	}
}

func nodeIsReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// defaultServiceAccount is a probe: pods can be created in the namespace default,
// which needs an account that kube-controller-manager makes.
func defaultServiceAccount(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the default service account: %w", err)
		}
		return nil
	}
}
