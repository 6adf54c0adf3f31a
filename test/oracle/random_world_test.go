package oracle

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/deployment/util"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// randomWorld returns a Deployment somewhere in its life, with up to four ReplicaSets. It is
// plausible as a whole, and nasty in places.
func randomWorld(d dice, now time.Time) *world {
	deployment := randomDeployment(d, now)
	w := &world{deployment: deployment, sets: map[string]*appsv1.ReplicaSet{}}
	versions := d.Perm(4)[:pick(d, 0, 1, 2, 2, 3, 3, 4)]
	for i, version := range versions {
		template := templateOf(version)
		if d.odd(5) {
			template = deployment.Spec.Template // there twice, perhaps
		}
		w.put(randomReplicaSet(d, deployment, template, fmt.Sprintf("%s-%d", deployment.Name, version), i+1, now))
	}
	if d.odd(5) {
		w.occupyName()
	}
	if d.odd(8) {
		w.empty(d)
	}
	if !d.nasty || d.chance(30) {
		deployment.Status = countedStatus(w, deployment.Status)
	} else {
		randomCounts(d, &deployment.Status)
	}
	for _, rs := range w.owned() {
		for range min(3, rs.Status.Replicas+int32(d.IntN(2))) * int32(d.IntN(2)) {
			pod := randomPod(d, rs, now)
			pod.Status.Phase = pick(d, pod.Status.Phase, corev1.PodFailed, corev1.PodSucceeded, corev1.PodRunning)
			w.pods = append(w.pods, pod)
		}
	}
	return w
}

func randomDeployment(d dice, now time.Time) *appsv1.Deployment {
	size := randomSize(d)
	if size > 1000 && !d.nasty {
		size = 20
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: randomName(d), Namespace: "default", UID: "web", ResourceVersion: "1",
			Generation:  int64(1 + d.IntN(3)),
			Annotations: randomAnnotations(d),
		},
		Spec: appsv1.DeploymentSpec{
			Replicas:                &size,
			Selector:                &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template:                templateOf(d.IntN(5)),
			Strategy:                randomStrategy(d, size),
			MinReadySeconds:         pick[int32](d, 0, 0, 0, 10),
			RevisionHistoryLimit:    pick(d, nil, number32(0), number32(1), number32(2), number32(10), number32(math.MaxInt32)),
			ProgressDeadlineSeconds: pick(d, nil, number32(math.MaxInt32), number32(11), number32(600), number32(600), number32(600)),
			Paused:                  d.chance(10),
		},
	}
	if size == 1 && d.chance(50) {
		deployment.Spec.Replicas = nil
	}
	if d.odd(5) {
		deployment.DeletionTimestamp = &metav1.Time{Time: now}
		deployment.Finalizers = []string{"example.com/wait"}
	}
	if d.odd(10) {
		deployment.Annotations[appsv1.DeprecatedRollbackTo] = pick(d, "0", "0", "1", "2", "3", "99", "-1", "garbage", "")
	}
	deployment.Status.ObservedGeneration = deployment.Generation - int64(pick(d, 0, 0, 0, 1))
	deployment.Status.CollisionCount = randomCollisions(d)
	deployment.Status.Conditions = randomConditions(d, now)
	return deployment
}

// templateOf returns a template that differs from those of other versions.
func templateOf(version int) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: fmt.Sprintf("web:%d", version)}}},
	}
}

func randomReplicaSet(d dice, owner *appsv1.Deployment, template corev1.PodTemplateSpec, name string, revision int, now time.Time) *appsv1.ReplicaSet {
	wanted := sizeOf(owner.Spec.Replicas)
	size := pick(d, 0, 0, 1, wanted, wanted, wanted/2, d.Int32N(10))
	if d.odd(3) {
		size = pick[int32](d, 50000, 1<<30, math.MaxInt32)
	}
	template = *template.DeepCopy()
	template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = name
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: types.UID("uid of " + name),
			Generation:        int64(1 + d.IntN(3)),
			CreationTimestamp: metav1.NewTime(now.Add(-time.Duration(d.IntN(4)) * time.Hour)),
			Labels:            maps.Clone(template.Labels),
			Annotations:       randomSizeAnnotations(d, owner, revision),
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(owner, rollout.Kind)},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas:        &size,
			MinReadySeconds: pick(d, owner.Spec.MinReadySeconds, owner.Spec.MinReadySeconds, 7),
			Selector:        &metav1.LabelSelector{MatchLabels: maps.Clone(template.Labels)},
			Template:        template,
		},
	}
	if size == 1 && d.chance(20) {
		rs.Spec.Replicas = nil
	}
	if d.odd(4) {
		rs.DeletionTimestamp = &metav1.Time{Time: now}
		rs.Finalizers = []string{"example.com/wait"}
	}
	for _, key := range []string{"kubernetes.io/change-cause", "example.com/team"} {
		if d.chance(50) {
			rs.Annotations[key] = pick(d, owner.Annotations[key], "another")
		}
	}
	randomReplicaSetStatus(d, rs, now)
	return rs
}

// randomReplicaSetStatus lets the status be that of a ReplicaSet which has reached its size,
// is on the way to it, or has just been given another one.
func randomReplicaSetStatus(d dice, rs *appsv1.ReplicaSet, now time.Time) {
	size := sizeOf(rs.Spec.Replicas)
	there := pick(d, size, size, size, d.Int32N(max(size, 1)), min(size, 3))
	if d.odd(10) {
		there = min(size, math.MaxInt32-5) + d.Int32N(5) // was larger a moment ago
	}
	ready := pick(d, there, there, d.Int32N(there/2+1), max(there-1, 0))
	rs.Status = appsv1.ReplicaSetStatus{
		Replicas:            there,
		ReadyReplicas:       ready,
		AvailableReplicas:   pick(d, ready, ready, ready/2),
		TerminatingReplicas: pick(d, nil, number32(0), number32(0), number32(2)),
		ObservedGeneration:  pick(d, rs.Generation, rs.Generation, rs.Generation-1),
	}
	if d.odd(20) {
		rs.Status.Conditions = []appsv1.ReplicaSetCondition{{
			Type:               appsv1.ReplicaSetReplicaFailure,
			Status:             corev1.ConditionTrue,
			Reason:             pick(d, "FailedCreate", "FailedDelete"),
			Message:            pick(d, "no room", "no room", "not allowed"),
			LastTransitionTime: metav1.NewTime(now.Add(-time.Minute)),
		}}
	}
}

// randomSizeAnnotations returns what the Deployment loop would have noted on a ReplicaSet, or
// garbage.
func randomSizeAnnotations(d dice, owner *appsv1.Deployment, revision int) map[string]string {
	wanted := int64(sizeOf(owner.Spec.Replicas))
	surge := int64(util.MaxSurge(*withSize(owner)))
	if d.chance(25) {
		wanted = int64(randomSize(d)) // was scaled since
	}
	annotations := map[string]string{
		util.RevisionAnnotation:        fmt.Sprint(revision),
		util.DesiredReplicasAnnotation: fmt.Sprint(wanted),
		util.MaxReplicasAnnotation:     fmt.Sprint(min(wanted+surge, math.MaxInt32)),
	}
	if d.chance(20) {
		annotations[util.RevisionHistoryAnnotation] = pick(d, "", "1", "1,2", strings.Repeat("10,", 666)+"1", strings.Repeat("x", 2001), "garbage")
	}
	if d.odd(12) {
		annotations[util.RevisionAnnotation] = pick(d, "1", "2", "7", "", "0", "-3", "two", "007", "9223372036854775807", "9223372036854775808")
	}
	for _, key := range []string{util.DesiredReplicasAnnotation, util.MaxReplicasAnnotation} {
		if d.odd(6) {
			annotations[key] = pick(d, "", "0", "-1", "+3", "many", "2147483648", "4294967297")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if d.odd(5) {
			delete(annotations, key)
		}
	}
	return annotations
}

// empty takes all Pods from the Deployment, whose template has no ReplicaSet yet, for two things
// that are seen then only: a new size while it is paused, and Recreate without any.
func (w *world) empty(d dice) {
	for _, rs := range w.sets {
		rs.Spec.Replicas, rs.Status.Replicas, rs.Status.ReadyReplicas, rs.Status.AvailableReplicas = number32(0), 0, 0, 0
		rs.Status.ObservedGeneration = rs.Generation
	}
	spec := &w.deployment.Spec
	spec.Template, spec.RevisionHistoryLimit, spec.Paused = templateOf(4), number32(0), d.chance(50)
	if !spec.Paused {
		spec.Replicas, spec.Strategy = number32(0), appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
}

// occupyName gives another's ReplicaSet the name that the next new one would have.
func (w *world) occupyName() {
	hash := controller.ComputeHash(&w.deployment.Spec.Template, w.deployment.Status.CollisionCount)
	size := int32(1)
	w.put(&appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: w.deployment.Name + "-" + hash, Namespace: "default", UID: "another's"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}},
	})
}

func number32(n int32) *int32 { return &n }

func sizeOf(size *int32) int32 {
	if size == nil {
		return 1
	}
	return *size
}

// withSize returns a copy that has a size, as the API server makes it.
func withSize(d *appsv1.Deployment) *appsv1.Deployment {
	d = d.DeepCopy()
	defaultSize(&d.Spec.Replicas)
	return d
}
