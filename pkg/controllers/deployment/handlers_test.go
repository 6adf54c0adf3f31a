package deployment

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestWhatWakesADeployment(t *testing.T) {
	recreate := func(d *appsv1.Deployment) {
		d.Name, d.UID, d.Spec.Strategy.Type = "batch", "d2", appsv1.RecreateDeploymentStrategyType
		d.Spec.Selector.MatchLabels["app"] = "batch"
	}
	controlledBy := func(name string, uid string) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) {
			rs.OwnerReferences[0].Name, rs.OwnerReferences[0].UID = name, types.UID(uid)
		}
	}
	newer := func(rs *appsv1.ReplicaSet) { rs.ResourceVersion = "201" }
	orphan := func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = nil }
	relabeled := func(rs *appsv1.ReplicaSet) { rs.Labels = map[string]string{"app": "web", "more": "so"} }
	elsewhere := func(rs *appsv1.ReplicaSet) { rs.Labels = map[string]string{"app": "other"} }
	other := func(rs *appsv1.ReplicaSet) { rs.OwnerReferences[0].Kind = "Rollout" }
	batch := replicaSet("v1", 1, controlledBy("batch", "d2"))
	podOf := func(rs *appsv1.ReplicaSet, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "shop", UID: "p"}, Status: corev1.PodStatus{Phase: phase}}
		if rs != nil {
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		}
		return p
	}
	gone := batch.DeepCopy()
	gone.UID = "before"
	tests := map[string]struct {
		event func(deployments, sets, pods cache.ResourceEventHandler)
		want  string
	}{
		"it is new":      {func(d, _, _ cache.ResourceEventHandler) { d.OnAdd(deployment(), true) }, "web"},
		"it has changed": {func(d, _, _ cache.ResourceEventHandler) { d.OnUpdate(deployment(), deployment()) }, "web"},
		"it is gone":     {func(d, _, _ cache.ResourceEventHandler) { d.OnDelete(deployment()) }, "web"},

		"a ReplicaSet of it is new":          {func(_, s, _ cache.ResourceEventHandler) { s.OnAdd(replicaSet("v1", 1), false) }, "web"},
		"a ReplicaSet of it has changed":     {func(_, s, _ cache.ResourceEventHandler) { s.OnUpdate(replicaSet("v1", 1), replicaSet("v1", 1, newer)) }, "web"},
		"a ReplicaSet of it is gone":         {func(_, s, _ cache.ResourceEventHandler) { s.OnDelete(replicaSet("v1", 1)) }, "web"},
		"but not at a resync of ReplicaSets": {func(_, s, _ cache.ResourceEventHandler) { s.OnUpdate(replicaSet("v1", 1), replicaSet("v1", 1)) }, ""},
		"a ReplicaSet changes hands, both": {func(_, s, _ cache.ResourceEventHandler) {
			s.OnUpdate(replicaSet("v1", 1), replicaSet("v1", 1, newer, controlledBy("batch", "d2")))
		}, "batch web"},
		"a ReplicaSet is released, as its former owner and as one that may adopt it": {
			func(_, s, _ cache.ResourceEventHandler) { s.OnUpdate(batch, replicaSet("v1", 1, newer, orphan)) }, "batch web"},
		"a new ReplicaSet nobody controls matches": {func(_, s, _ cache.ResourceEventHandler) { s.OnAdd(replicaSet("v1", 1, orphan), false) }, "web"},
		"one that nobody controls gets matching labels": {func(_, s, _ cache.ResourceEventHandler) {
			s.OnUpdate(replicaSet("v1", 1, orphan), replicaSet("v1", 1, orphan, relabeled, newer))
		}, "web"},
		"but not if its labels stay": {func(_, s, _ cache.ResourceEventHandler) {
			s.OnUpdate(replicaSet("v1", 1, orphan), replicaSet("v1", 1, orphan, newer))
		}, ""},
		"nor if they do not match":                      {func(_, s, _ cache.ResourceEventHandler) { s.OnAdd(replicaSet("v1", 1, orphan, elsewhere), false) }, ""},
		"nor when one that nobody controls is gone":     {func(_, s, _ cache.ResourceEventHandler) { s.OnDelete(replicaSet("v1", 1, orphan)) }, ""},
		"nor for a ReplicaSet of another kind of owner": {func(_, s, _ cache.ResourceEventHandler) { s.OnAdd(replicaSet("v1", 1, other), false) }, ""},
		"nor for one of a former Deployment of that name": {func(_, s, _ cache.ResourceEventHandler) {
			s.OnAdd(replicaSet("v1", 1, controlledBy("web", "before")), false)
		}, ""},

		"a Pod of a Recreate Deployment is gone": {func(_, _, p cache.ResourceEventHandler) { p.OnDelete(podOf(batch, corev1.PodRunning)) }, "batch"},
		"a Pod of one has ended": {func(_, _, p cache.ResourceEventHandler) {
			p.OnUpdate(podOf(batch, corev1.PodRunning), podOf(batch, corev1.PodFailed))
		}, "batch"},
		"a Pod of one is released": {func(_, _, p cache.ResourceEventHandler) {
			p.OnUpdate(podOf(batch, corev1.PodRunning), podOf(nil, corev1.PodRunning))
		}, "batch"},
		"a Pod of one gets another controller": {func(_, _, p cache.ResourceEventHandler) {
			p.OnUpdate(podOf(batch, corev1.PodRunning), podOf(gone, corev1.PodRunning))
		}, "batch"},
		"nothing such happens to a Pod": {func(_, _, p cache.ResourceEventHandler) {
			p.OnUpdate(podOf(batch, corev1.PodPending), podOf(batch, corev1.PodRunning))
		}, ""},
		"but not if it had ended before": {func(_, _, p cache.ResourceEventHandler) {
			p.OnUpdate(podOf(batch, corev1.PodFailed), podOf(batch, corev1.PodFailed))
		}, ""},
		"nor when it is new":                          {func(_, _, p cache.ResourceEventHandler) { p.OnAdd(podOf(batch, corev1.PodRunning), false) }, ""},
		"nor for a Pod of a rolling Deployment":       {func(_, _, p cache.ResourceEventHandler) { p.OnDelete(podOf(replicaSet("v2", 1), corev1.PodRunning)) }, ""},
		"nor for a Pod that nobody controls":          {func(_, _, p cache.ResourceEventHandler) { p.OnDelete(podOf(nil, corev1.PodRunning)) }, ""},
		"nor for a Pod of a former ReplicaSet":        {func(_, _, p cache.ResourceEventHandler) { p.OnDelete(podOf(gone, corev1.PodRunning)) }, ""},
		"nor for a Pod whose ReplicaSet is an orphan": {func(_, _, p cache.ResourceEventHandler) { p.OnDelete(podOf(replicaSet("v3", 1), corev1.PodRunning)) }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, deployment(), deployment(recreate), batch, replicaSet("v2", 1), replicaSet("v3", 1, orphan))
			test.event(l.deploymentHandler(), l.replicaSetHandler(), l.podHandler())
			var woken []string
			for l.queue.Len() > 0 {
				key, _ := l.queue.Get()
				woken = append(woken, key.Name)
			}
			slices.Sort(woken)
			if got := strings.Join(woken, " "); got != test.want {
				t.Errorf("woke %q, want %q", got, test.want)
			}
		})
	}
}
