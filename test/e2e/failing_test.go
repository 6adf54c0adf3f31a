package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file are about Pods that fail as soon as they are made. kubernetes#72593,
// #131116.

// TestPodsThatANodeRefusesAreReplacedEverLater: the first at once, and then there are pauses,
// until a template comes that works.
func TestPodsThatANodeRefusesAreReplacedEverLater(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.Mode(localcluster.ModeFail)))
	st := s.untilPaused(2)
	// Two pauses have begun, after three waves.
	if made := st.Pods.Born(); made != 3*3 {
		t.Errorf("%d Pods were made until the second pause, want 9", made)
	}
	s.Edit("web", lab.Image("web:2"), lab.Mode(""))
	s.Complete("web")
}

// TestPodsThatATaintTakesAwayAreReplacedEverLater: they are on the node by name, so that no
// scheduler keeps them off it, and kube-controller-manager deletes each of them at once.
func TestPodsThatATaintTakesAwayAreReplacedEverLater(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.taintedNode()
	s.Create(lab.NewDeployment("web", 3, func(d *appsv1.Deployment) { d.Spec.Template.Spec.NodeName = node }))
	st := s.untilPaused(2)
	if made := st.Pods.Born(); made < 3*3 || made > 4*3 {
		t.Errorf("%d Pods were made until the second pause, want 9, or a few more", made)
	}
	s.patchNode(node, `{"spec":{"taints":[{"key":"lab.example/no-others","effect":"NoSchedule"}]}}`)
	s.Complete("web")
}

// TestASingleEvictionIsReplacedAtOnce: also of a Pod that has only just been made.
func TestASingleEvictionIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	st := s.Until("a Pod", func(st *lab.Story) string {
		if len(st.Pods.Now) < 3 {
			return "there are fewer"
		}
		return ""
	})
	s.PatchPod(st.Pods.Present()[0].Name, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
	st = s.Complete("web")
	if paused := pauses(st); paused > 0 {
		t.Errorf("%d pauses", paused)
	}
	s.WantPodCreates(3 + 1)
}

// untilPaused waits until there are so many events about a pause.
func (s *space) untilPaused(want int) *lab.Story {
	s.T.Helper()
	return s.Until("a pause", func(st *lab.Story) string {
		if got := pauses(st); got < want {
			return fmt.Sprintf("there were %d", got)
		}
		return ""
	})
}

// pauses is how many different events tell of one.
func pauses(st *lab.Story) int {
	told := 0
	for _, event := range st.Events.Present() {
		if strings.HasPrefix(lab.EventLine(event), "replicaset-controller Warning PodFailureBackoff: Not creating pods for ") {
			told++
		}
	}
	return told
}

// taintedNode makes a node on which nothing may run, and where no scheduler puts the Pods of other
// tests even without that.
func (s *space) taintedNode() string {
	s.T.Helper()
	nodes := s.Client.CoreV1().Nodes()
	list, err := nodes.List(s.T.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		s.T.Fatalf("listing nodes: %d, %v", len(list.Items), err)
	}
	like := list.Items[slices.IndexFunc(list.Items, func(n corev1.Node) bool { return len(n.Spec.Taints) == 0 })]
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Labels: like.Labels},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: "lab.example/none", Effect: corev1.TaintEffectNoExecute},
			{Key: "lab.example/no-others", Effect: corev1.TaintEffectNoSchedule},
		}},
		Status: corev1.NodeStatus{Capacity: like.Status.Capacity, Allocatable: like.Status.Allocatable, NodeInfo: like.Status.NodeInfo},
	}
	if _, err := nodes.Create(s.T.Context(), node, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("creating Node %s: %v", node.Name, err)
	}
	s.T.Cleanup(func() {
		if err := nodes.Delete(context.WithoutCancel(s.T.Context()), node.Name, metav1.DeleteOptions{}); err != nil {
			s.T.Errorf("deleting Node %s: %v", node.Name, err)
		}
	})
	return node.Name
}

func (s *space) patchNode(name, patch string) {
	s.T.Helper()
	if _, err := s.Client.CoreV1().Nodes().Patch(s.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.T.Fatalf("patching Node %s: %v", name, err)
	}
}
