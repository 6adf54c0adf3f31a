package simulation

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// story is what happened in a world, for people to read: line by line, for who looks for a
// fault, or as a tale for who wants to know what the loops do.
type story struct {
	lines []line
	tale  *tale // nil for a story line by line
}

// tale returns the story if it is told as a tale; nil if not.
func (w *World) tale() *tale {
	if w.story == nil {
		return nil
	}
	return w.story.tale
}

// line is one thing that happened: when, while how many requests were on their way, and of
// what kind it is.
type line struct {
	at    time.Duration
	depth int
	kind  string
	text  string
}

func (l line) String() string {
	return fmt.Sprintf("%12s %s%-7s %s", l.at, strings.Repeat("  ", l.depth), l.kind, l.text)
}

// tell adds a line to the story, if somebody listens.
func (w *World) tell(kind, format string, values ...any) {
	switch t := w.tale(); {
	case w.story == nil:
	case t != nil:
		t.said(kind, fmt.Sprintf(format, values...))
	default:
		w.story.lines = append(w.story.lines, line{w.clock.elapsed, w.depth, kind, fmt.Sprintf(format, values...)})
	}
}

func (w *World) tellDeployment(by *writer, c change[*appsv1.Deployment]) {
	if t := w.tale(); t != nil {
		t.deployment(by, c)
		return
	}
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
	if t := w.tale(); t != nil {
		t.replicaSet(by, c)
		return
	}
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
	if t := w.tale(); t != nil {
		t.pod(by, c)
		return
	}
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
