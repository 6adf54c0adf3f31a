package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestRecreateTakesOneStep(t *testing.T) {
	pod := func(phase corev1.PodPhase, leaving bool) *corev1.Pod {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		if leaving {
			gone := metav1.NewTime(now)
			p.DeletionTimestamp = &gone
		}
		return p
	}
	unobserved := func(rs *appsv1.ReplicaSet) { rs.Generation = 2 }
	stopped := replicaSet("v1", 0, 0, sizedFor(3, 3))
	tests := map[string]struct {
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		pods map[types.UID][]*corev1.Pod
		want []string
	}{
		"old ReplicaSets are stopped first, all of them": {
			deployment(3, recreate), []*appsv1.ReplicaSet{replicaSet("v1", 3, 3, sizedFor(3, 3)), replicaSet("v3", 1, 1, sizedFor(3, 3))}, nil,
			[]string{"web-v1 3→0", "web-v3 1→0"}},
		"also those of which no Pod has been seen yet": {
			deployment(3, recreate), []*appsv1.ReplicaSet{replicaSet("v1", 3, 0, rsPods(0), sizedFor(3, 3))}, nil, []string{"web-v1 3→0"}},
		"a terminating old Pod is waited for": {
			deployment(3, recreate), []*appsv1.ReplicaSet{stopped},
			map[types.UID][]*corev1.Pod{"web-v1": {pod(corev1.PodRunning, true)}}, nil},
		"a Pod of unknown phase may run": {
			deployment(3, recreate), []*appsv1.ReplicaSet{stopped},
			map[types.UID][]*corev1.Pod{"web-v1": {pod(corev1.PodUnknown, true)}}, nil},
		"Pods that the old ReplicaSet still counts are waited for": {
			deployment(3, recreate), []*appsv1.ReplicaSet{replicaSet("v1", 0, 0, rsPods(2))}, nil, nil},
		"one that may still make Pods, for it is not known there that none is wanted, is waited for": {
			deployment(3, recreate), []*appsv1.ReplicaSet{replicaSet("v1", 0, 0, unobserved)}, nil, nil},
		"but not if it is being deleted": {
			deployment(3, recreate), []*appsv1.ReplicaSet{replicaSet("v1", 0, 0, unobserved, rsDeleted)}, nil, []string{"create 3"}},
		"Pods that have ended do not hold it up": {
			deployment(3, recreate), []*appsv1.ReplicaSet{stopped},
			map[types.UID][]*corev1.Pod{"web-v1": {pod(corev1.PodFailed, true), pod(corev1.PodSucceeded, false)}}, []string{"create 3"}},
		"the new one is brought to full size at once": {
			deployment(3, recreate), []*appsv1.ReplicaSet{stopped, replicaSet("v2", 0, 0, sizedFor(3, 3))}, nil, []string{"web-v2 0→3"}},
		"Pods of the new one hold nothing up": {
			deployment(3, recreate), []*appsv1.ReplicaSet{stopped, replicaSet("v2", 2, 0, sizedFor(3, 3))},
			map[types.UID][]*corev1.Pod{"web-v2": {pod(corev1.PodRunning, true)}}, []string{"web-v2 2→3"}},
		"a new ReplicaSet that is being deleted is waited for": {
			deployment(3, recreate), []*appsv1.ReplicaSet{replicaSet("v2", 2, 0, rsDeleted)}, nil, nil},
		"another size in the middle of a rollout does not stop it": {
			deployment(11, recreate), []*appsv1.ReplicaSet{replicaSet("v1", 8, 8, sizedFor(10, 13)), replicaSet("v2", 5, 0, sizedFor(10, 13))}, nil,
			[]string{"web-v1 8→0"}},
		"a finished rollout asks for nothing": {
			deployment(3, recreate), []*appsv1.ReplicaSet{stopped, replicaSet("v2", 3, 3, sizedFor(3, 3))}, nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(test.d, test.sets...)
			s.Pods = test.pods
			plan := decide(t, s)
			if diff := cmp.Diff(test.want, sizes(plan)); diff != "" {
				t.Errorf("steps (-want +got):\n%s\nnote: %s", diff, plan.Note)
			}
			if plan.Empty() && plan.Note == "" {
				t.Error("a plan that does nothing must say what it waits for")
			}
		})
	}
}
