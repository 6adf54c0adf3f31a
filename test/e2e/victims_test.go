package e2e

import (
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// TestWhichPodGoesFirst makes one Pod for each rule of the order, lets a Deployment adopt
// them all and shrinks it one by one. kubernetes#126138, PR kubernetes#80004, #101767,
// #45509, pekko-management#414, website#26739.
func TestWhichPodGoesFirst(t *testing.T) {
	t.Parallel()
	hour := time.Hour
	s := newSpace(t)
	order := []victim{
		{name: "without-a-node", elsewhere: true},
		{name: "pending", node: 1, mode: localcluster.ModeNever},
		{name: "not-ready", node: 1, cost: "9", unready: true},
		{name: "cheap", node: 2, cost: "-10", ready: 9 * hour},
		{name: "crowded", node: 3, ready: 9 * hour}, // and dear beside it
		{name: "ready-lately", node: 4, ready: hour},
		{name: "ready-long-ago", node: 5, ready: 9 * hour},
		{name: "dear", node: 3, cost: "10", ready: hour},
	}
	for _, v := range order {
		s.CreatePod(v.pod())
	}
	s.Until("the Pods to start", func(st *lab.Story) string {
		for _, v := range order {
			if pod := st.Pods.Now[v.name]; pod == nil || !v.elsewhere && v.mode == "" && pod.Status.Phase != corev1.PodRunning {
				return v.name + " has not"
			}
		}
		return ""
	})
	for _, v := range order {
		v.settle(s)
	}
	s.Create(lab.NewDeployment("web", int32(len(order))))
	s.Until("the Pods to be adopted and counted", func(st *lab.Story) string {
		rs := st.ReplicaSets.Now[lab.WebReplicaSet]
		if adopted := len(st.PodsOf(rs)); adopted != len(order) || rs.Status.ReadyReplicas != int32(len(order)-3) {
			return fmt.Sprintf("%d are", adopted)
		}
		return ""
	})
	for i, v := range order[:len(order)-1] {
		left := int32(len(order) - 1 - i)
		s.Edit("web", lab.Replicas(left))
		st := s.Until(fmt.Sprintf("%d Pods", left), func(st *lab.Story) string { return lab.WrongPods(st, left) })
		if st.Pods.Now[v.name] != nil {
			t.Fatalf("at size %d these are left, want %s gone: %v", left, v.name, st.Pods.Now)
		}
	}
	s.WantPodCreates(0)
}

// victim is a Pod that a ReplicaSet will choose for deletion.
type victim struct {
	name      string
	node      int
	elsewhere bool // no node is good for it
	mode      string
	cost      string
	unready   bool
	ready     time.Duration // since when
}

// pod looks like one of the Deployment web, so that it is adopted.
func (v victim) pod() *corev1.Pod {
	pod := bare(v.name, map[string]string{"app": "web", "pod-template-hash": lab.WebHash})
	pod.Spec.NodeName = fmt.Sprintf("kwok-node-%d", v.node)
	if v.elsewhere {
		pod.Spec.NodeName, pod.Spec.NodeSelector = "", map[string]string{"nowhere": ""}
	}
	if v.mode != "" {
		maps.Copy(pod.Labels, map[string]string{localcluster.ModeLabel: v.mode})
	}
	if v.cost != "" {
		withCost(pod, v.cost)
	}
	return pod
}

// settle gives a running Pod its readiness.
func (v victim) settle(s *space) {
	s.T.Helper()
	if v.unready {
		s.MakeUnready(v.name)
	}
	if v.ready > 0 {
		s.MakeReady(v.name, new(metav1.NewTime(time.Now().Add(-v.ready))))
	}
}
