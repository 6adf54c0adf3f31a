package oracle

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// randomPod returns a Pod of a ReplicaSet. Most of what the deletion order looks at is the
// same for many Pods, so that each rule gets its turn.
func randomPod(d dice, rs *appsv1.ReplicaSet, now time.Time) *corev1.Pod {
	uid := types.UID(fmt.Sprintf("%08x", d.Uint32()))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              rs.Name + "-" + string(uid),
			Namespace:         rs.Namespace,
			UID:               uid,
			ResourceVersion:   "1",
			CreationTimestamp: randomTime(d, now),
			Labels:            map[string]string{},
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: corev1.PodSpec{NodeName: pick(d, "", "a", "a", "b", "b", "c")},
		Status: corev1.PodStatus{
			Phase:                 pick(d, "", corev1.PodPending, corev1.PodUnknown, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning),
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "web", RestartCount: randomRestarts(d)}, {Name: "log", RestartCount: randomRestarts(d)}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "init", RestartCount: randomRestarts(d)}, {Name: "proxy", RestartCount: randomRestarts(d)}},
		},
	}
	for key, value := range rs.Spec.Template.Labels {
		pod.Labels[key] = value
	}
	if d.chance(20) {
		pod.Annotations = map[string]string{corev1.PodDeletionCost: pick(d, "0", "-1", "1", "100", "2147483647", "-2147483648", "2147483648", "+1", "01", "1.5", "", "cheap", " 1")}
	}
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}, {Name: "proxy", RestartPolicy: pick(d, nil, &always)}}
	if d.chance(80) {
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{
				Type:               corev1.PodReady,
				Status:             pick(d, corev1.ConditionFalse, corev1.ConditionUnknown, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue),
				LastTransitionTime: randomTime(d, now),
			},
		}
	}
	return pod
}

func randomRestarts(d dice) int32 { return pick[int32](d, 0, 0, 0, 0, 1, 5) }

// randomTime is long ago, a moment ago, or on either side of a power of two nanoseconds,
// which is where the deletion order sees a difference; ahead by an hour, as the clock of
// a node may be; or missing.
func randomTime(d dice, now time.Time) metav1.Time {
	power := time.Duration(1) << (30 + d.IntN(23))
	ago := pick(d, 0, time.Second, 10*time.Second, time.Minute, time.Hour, 24*time.Hour, -time.Second, -time.Hour,
		power.Truncate(time.Second), power.Truncate(time.Second)+time.Second, time.Duration(d.IntN(2000))*time.Second)
	if d.chance(8) {
		return metav1.Time{}
	}
	return metav1.NewTime(now.Add(-ago))
}
