package simulation

import (
	"fmt"
	"maps"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// wish is one thing that users do, given a Deployment that is there, and two numbers that
// say which and how much.
type wish struct {
	name string
	do   func(w *World, d *appsv1.Deployment, a, b int)
}

// numberOfWishes is how many wishes returns.
const numberOfWishes = 21

// wishes returns all that users do to their Deployments, and to what belongs to them. Some of
// it nobody should do.
func wishes() []wish {
	return slices.Concat(wishesOfDeployments(), wishesOfReplicaSets(), wishesOfPods())
}

func wishesOfDeployments() []wish {
	return []wish{
		{"scale", edit(func(d *appsv1.Deployment, a, _ int) { d.Spec.Replicas = number(a % 7) })},
		{"change the template", edit(func(d *appsv1.Deployment, a, _ int) { d.Spec.Template = template(d.Name, image(a)) })},
		{"change the fenceposts", edit(func(d *appsv1.Deployment, a, b int) {
			d.Spec.Strategy = rolling(fencepost(a), fencepost(b))
		})},
		{"change the strategy", edit(func(d *appsv1.Deployment, a, b int) {
			if a%2 == 0 {
				d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
				return
			}
			d.Spec.Strategy = rolling(intstr.FromString("25%"), intstr.FromString("25%"))
		})},
		{"pause or resume", edit(func(d *appsv1.Deployment, _, _ int) { d.Spec.Paused = !d.Spec.Paused })},
		{"change minReadySeconds", edit(func(d *appsv1.Deployment, a, _ int) { d.Spec.MinReadySeconds = int32(a % 3 * 10) })},
		{"change the deadline", edit(func(d *appsv1.Deployment, a, _ int) {
			d.Spec.ProgressDeadlineSeconds = [4]*int32{number(60), number(600), number(math.MaxInt32), nil}[a%4]
		})},
		{"change the history limit", edit(func(d *appsv1.Deployment, a, _ int) {
			d.Spec.RevisionHistoryLimit = [4]*int32{number(0), number(1), number(10), nil}[a%4]
		})},
		{"annotate", edit(func(d *appsv1.Deployment, a, _ int) {
			d.Annotations = merged(d.Annotations, map[string]string{"note": fmt.Sprint(a % 3)})
		})},
		{"ask for a rollback", edit(func(d *appsv1.Deployment, a, _ int) {
			d.Annotations = merged(d.Annotations, map[string]string{rollout.RollbackAnnotation: fmt.Sprint(a % 4)})
		})},
		{"scale and change all at once", edit(func(d *appsv1.Deployment, a, b int) {
			d.Spec.Replicas, d.Spec.Template = number(a%7), template(d.Name, image(b))
			if b%3 == 0 {
				d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
			}
		})},
		{"delete the Deployment", func(w *World, d *appsv1.Deployment, a, _ int) {
			_ = remove(w.server, &w.server.deployments, &w.user, d.Name, metav1.Preconditions{}, propagation(a))
		}},
	}
}

func wishesOfReplicaSets() []wish {
	return []wish{
		{"scale a ReplicaSet", onReplicaSet(func(w *World, rs *appsv1.ReplicaSet, b int) {
			scaled := shallow(rs)
			scaled.Spec.Replicas = number(b % 5)
			w.writeReplicaSet(rs, scaled)
		})},
		{"garble an annotation of a ReplicaSet", onReplicaSet(func(w *World, rs *appsv1.ReplicaSet, b int) {
			garbled := shallow(rs)
			garbled.Annotations = merged(rs.Annotations, map[string]string{
				[3]string{rollout.RevisionAnnotation, rollout.DesiredReplicasAnnotation, rollout.MaxReplicasAnnotation}[b%3]: [3]string{"many", "", "7"}[b/3%3],
			})
			w.writeReplicaSet(rs, garbled)
		})},
		{"delete a ReplicaSet", onReplicaSet(func(w *World, rs *appsv1.ReplicaSet, b int) {
			_ = remove(w.server, &w.server.replicaSets, &w.user, rs.Name, metav1.Preconditions{}, propagation(b))
		})},
		{"free or relabel a ReplicaSet", onReplicaSet(func(w *World, rs *appsv1.ReplicaSet, b int) {
			changed := shallow(rs)
			if b%2 == 0 {
				changed.OwnerReferences = nil
			} else {
				changed.Labels = relabeled(rs.Labels)
			}
			w.writeReplicaSet(rs, changed)
		})},
	}
}

func wishesOfPods() []wish {
	return []wish{
		{"relabel a Pod", onPod(func(w *World, pod *corev1.Pod, _ int) {
			w.writePod(pod, func(p *corev1.Pod) { p.Labels = relabeled(pod.Labels) })
		})},
		{"free a Pod", onPod(func(w *World, pod *corev1.Pod, _ int) {
			w.writePod(pod, func(p *corev1.Pod) { p.OwnerReferences = nil })
		})},
		{"put a price on a Pod", onPod(func(w *World, pod *corev1.Pod, b int) {
			w.writePod(pod, func(p *corev1.Pod) {
				p.Annotations = merged(pod.Annotations, map[string]string{corev1.PodDeletionCost: fmt.Sprint(b%5 - 2)})
			})
		})},
		{"delete a Pod", onPod(func(w *World, pod *corev1.Pod, _ int) {
			_ = remove(w.server, &w.server.pods, &w.user, pod.Name, metav1.Preconditions{}, "")
		})},
		{"make a Pod for adoption", onReplicaSet(func(w *World, rs *appsv1.ReplicaSet, _ int) {
			w.steps++
			_, _ = create(w.server, &w.server.pods, &w.user, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stray-%d", w.steps), Namespace: namespace, Labels: rs.Spec.Template.Labels},
				Spec:       rs.Spec.Template.Spec,
			})
		})},
	}
}

// edit is a wish that changes a Deployment's spec or annotations.
func edit(change func(d *appsv1.Deployment, a, b int)) func(*World, *appsv1.Deployment, int, int) {
	return func(w *World, d *appsv1.Deployment, a, b int) {
		edited := shallow(d)
		change(edited, a, b)
		switch {
		case !apiequality.Semantic.DeepEqual(d.Spec, edited.Spec):
			edited.Generation++
		case maps.Equal(d.Annotations, edited.Annotations):
			return // nothing changed
		}
		put(w.server, &w.server.deployments, &w.user, d, edited)
	}
}

// onReplicaSet is a wish about one of the Deployment's ReplicaSets, or of those that once were.
func onReplicaSet(do func(w *World, rs *appsv1.ReplicaSet, b int)) func(*World, *appsv1.Deployment, int, int) {
	return func(w *World, _ *appsv1.Deployment, a, b int) {
		if sets := w.server.replicaSets.rows; len(sets) > 0 {
			do(w, sets[a%len(sets)], b)
		}
	}
}

func onPod(do func(w *World, pod *corev1.Pod, b int)) func(*World, *appsv1.Deployment, int, int) {
	return func(w *World, _ *appsv1.Deployment, a, b int) {
		if pods := w.server.pods.rows; len(pods) > 0 {
			do(w, pods[a%len(pods)], b)
		}
	}
}

func (w *World) writeReplicaSet(old, changed *appsv1.ReplicaSet) {
	switch {
	case size(old) != size(changed):
		changed.Generation++
	case apiequality.Semantic.DeepEqual(old.ObjectMeta, changed.ObjectMeta):
		return
	}
	put(w.server, &w.server.replicaSets, &w.user, old, changed)
}

func (w *World) writePod(pod *corev1.Pod, edit func(*corev1.Pod)) {
	changed := shallow(pod)
	edit(changed)
	if apiequality.Semantic.DeepEqual(pod.ObjectMeta, changed.ObjectMeta) {
		return
	}
	put(w.server, &w.server.pods, &w.user, pod, changed)
}

// relabeled takes the label "app" away, or gives it back.
func relabeled(labels map[string]string) map[string]string {
	changed := maps.Clone(labels)
	if app, has := labels["app"]; has {
		delete(changed, "app")
		changed["was"] = app
		return changed
	}
	changed["app"] = labels["was"]
	delete(changed, "was")
	return changed
}

func number(n int) *int32 {
	count := int32(n)
	return &count
}

func fencepost(n int) intstr.IntOrString {
	return [6]intstr.IntOrString{
		intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2),
		intstr.FromString("25%"), intstr.FromString("50%"), intstr.FromString("100%"),
	}[n%6]
}

// rolling returns a strategy that the API server takes: it refuses 0 for both.
func rolling(surge, unavailable intstr.IntOrString) appsv1.DeploymentStrategy {
	if surge == intstr.FromInt32(0) && unavailable == surge {
		unavailable = intstr.FromInt32(1)
	}
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
	}
}

func propagation(n int) metav1.DeletionPropagation {
	return [3]metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}[n%3]
}
