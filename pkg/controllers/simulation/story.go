package simulation

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// story is what happened in a world, for people to read.
type story struct{ lines []string }

// tell adds a line to the story, if somebody listens.
func (w *World) tell(who, format string, values ...any) {
	if w.story == nil {
		return
	}
	line := fmt.Sprintf("%8s %s%-7s %s", w.clock.elapsed, strings.Repeat("  ", w.depth), who, fmt.Sprintf(format, values...))
	w.story.lines = append(w.story.lines, line)
}

func (w *World) tellDeployment(by *writer, c change[*appsv1.Deployment]) {
	if w.story == nil {
		return
	}
	if c.new == nil {
		w.tell("write", "v%d %s: Deployment %s is gone", c.version, by.name, c.old.Name)
		return
	}
	d := c.new
	w.tell("write", "v%d %s: Deployment %s wants %d of %s", c.version, by.name, d.Name, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image)
}

func (w *World) tellReplicaSet(by *writer, c change[*appsv1.ReplicaSet]) {
	if w.story == nil {
		return
	}
	if c.new == nil {
		w.tell("write", "v%d %s: ReplicaSet %s is gone", c.version, by.name, c.old.Name)
		return
	}
	rs := c.new
	w.tell("write", "v%d %s: ReplicaSet %s (%s) wants %d (of %s, at most %s), has %d, available %d", c.version, by.name, rs.Name,
		rs.Spec.Template.Spec.Containers[0].Image, size(rs), rs.Annotations[rollout.DesiredReplicasAnnotation], rs.Annotations[rollout.MaxReplicasAnnotation], rs.Status.Replicas, rs.Status.AvailableReplicas)
}

func (w *World) tellPod(by *writer, c change[*corev1.Pod]) {
	if w.story == nil {
		return
	}
	if c.new == nil {
		w.tell("write", "v%d %s: Pod %s is gone", c.version, by.name, c.old.Name)
		return
	}
	pod := c.new
	w.tell("write", "v%d %s: Pod %s %s ready=%s deleted=%t", c.version, by.name, pod.Name, pod.Status.Phase, readiness(pod), pod.DeletionTimestamp != nil)
}
