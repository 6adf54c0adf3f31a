package oracle

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller"

	"controller-manager/pkg/controllers/replicaset/scale"
)

// noon is the time of decisions that are not observed. It is a whole second, as are the
// times that objects carry.
var noon = time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)

// One of two Pods has to go: where the built-in's order says which, ours says the same.
func TestDeletionOrderOfTwo(t *testing.T) {
	ties := 0
	each(t, 10000, func(t *testing.T, d dice) {
		rs := namedReplicaSet("web-1", 1)
		siblings := randomPods(d, rs, 2+d.IntN(6), noon)
		pair := siblings[:2]
		if d.chance(30) {
			twin(d, pair)
		}
		order := builtinOrder(pair, siblings, noon)
		first := decide(rs, pair, siblings, noon)[0]
		switch {
		case order.Less(0, 1) == order.Less(1, 0):
			ties++
		case order.Less(0, 1) != (first == pair[0]):
			t.Errorf("%s goes first, and should not, of\n%s and\n%s", first.Name, asJSON(t, pair[0]), asJSON(t, pair[1]))
		}
	})
	if ties == 0 && usual() {
		t.Error("no two Pods were the same to the built-in's order")
	}
}

// Some of many Pods have to go. The built-in's comparison has no circles among most; then
// no Pod may stay that comes before one that goes.
func TestDeletionOrderOfMany(t *testing.T) {
	const cases = 4000
	circles := 0
	each(t, cases, func(t *testing.T, d dice) {
		count := 2 + d.IntN(12)
		rs := namedReplicaSet("web-1", int32(1+d.IntN(count-1)))
		active := randomPods(d, rs, count, noon)
		siblings := append(slices.Clone(active), randomPods(d, namedReplicaSet("web-2", 0), d.IntN(5), noon)...)
		going := decide(rs, active, siblings, noon)
		if want := count - int(*rs.Spec.Replicas); len(going) != want {
			t.Fatalf("%d Pods go and not %d", len(going), want)
		}
		order := builtinOrder(active, siblings, noon)
		if hasCircle(order) {
			circles++
			return
		}
		for i, stays := range active {
			for j, goes := range active {
				if !slices.Contains(going, stays) && slices.Contains(going, goes) && order.Less(i, j) && !order.Less(j, i) {
					t.Errorf("%s goes and %s stays, which should go before it", asJSON(t, goes), asJSON(t, stays))
				}
			}
		}
	})
	t.Logf("%d of them with a circle in the built-in's comparison", circles)
	if circles > cases/3 {
		t.Error("too little was compared")
	}
}

// builtinOrder returns the built-in's order of Pods, with the ranks it gives them: how many
// active siblings are on the same node.
func builtinOrder(pods, siblings []*corev1.Pod, now time.Time) controller.ActivePodsWithRanks {
	order := controller.ActivePodsWithRanks{Pods: pods, Rank: make([]int, len(pods)), Now: metav1.NewTime(now)}
	for i, pod := range pods {
		for _, sibling := range siblings {
			if sibling.Spec.NodeName == pod.Spec.NodeName {
				order.Rank[i]++
			}
		}
	}
	return order
}

// hasCircle reports whether some Pods each come before the next and the last before the
// first: then sorting gives any of several results.
func hasCircle(order controller.ActivePodsWithRanks) bool {
	count := order.Len()
	for a := range count {
		for b := range count {
			for c := range count {
				if !order.Less(b, a) && !order.Less(c, b) && order.Less(c, a) {
					return true
				}
			}
		}
	}
	return false
}

func decide(rs *appsv1.ReplicaSet, active, siblings []*corev1.Pod, now time.Time) []*corev1.Pod {
	return scale.Decide(scale.Snapshot{ReplicaSet: rs, Active: active, Siblings: siblings, Settled: true, Now: now}).Delete
}

// twin makes two Pods the same but for a few things, so that the later rules decide.
func twin(d dice, pair []*corev1.Pod) {
	a, b := pair[0], pair[1]
	b.Spec.NodeName, b.Status.Phase, b.Annotations = a.Spec.NodeName, a.Status.Phase, a.Annotations
	b.Status.Conditions = a.Status.Conditions
	if d.chance(70) {
		b.Spec.InitContainers, b.Status.ContainerStatuses = a.Spec.InitContainers, a.Status.ContainerStatuses
	}
	if d.chance(70) {
		b.Status.InitContainerStatuses = a.Status.InitContainerStatuses
	}
	if d.chance(30) {
		b.CreationTimestamp = a.CreationTimestamp
	}
}

func randomPods(d dice, rs *appsv1.ReplicaSet, count int, now time.Time) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, count)
	for range count {
		pods = append(pods, randomPod(d, rs, now))
	}
	return pods
}

func namedReplicaSet(name string, size int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &size,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}},
		},
	}
}

func asJSON(t *testing.T, object any) string {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	return string(encoded)
}
