package simulation

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// narrator tells people what happens in a world: line by line, to who looks for a fault
// (story), or to who wants to know what the loops do (tale).
type narrator interface {
	// said is told of what has no function of its own: of what kind it is, or who does it, and what.
	said(kind, text string)
	event(kind, reason, message string)
	logged(level int, message string, values []any)
	failed(err error, message string, values []any)
	deployment(by *writer, c change[*appsv1.Deployment])
	replicaSet(by *writer, c change[*appsv1.ReplicaSet])
	pod(by *writer, c change[*corev1.Pod])
}

// tell tells the narrator something, if there is one.
func (w *World) tell(kind, format string, values ...any) {
	if w.narrator != nil {
		w.narrator.said(kind, fmt.Sprintf(format, values...))
	}
}

func (w *World) tellDeployment(by *writer, c change[*appsv1.Deployment]) {
	if w.narrator != nil {
		w.narrator.deployment(by, c)
	}
}

func (w *World) tellReplicaSet(by *writer, c change[*appsv1.ReplicaSet]) {
	if w.narrator != nil {
		w.narrator.replicaSet(by, c)
	}
}

func (w *World) tellPod(by *writer, c change[*corev1.Pod]) {
	if w.narrator != nil {
		w.narrator.pod(by, c)
	}
}

// story has a line for each thing that happens: when it did, with how many requests on their
// way (by how far it is indented), and of what kind it is.
type story struct {
	world *World
	lines []string
}

func (s *story) said(kind, text string) {
	s.lines = append(s.lines, fmt.Sprintf("%12s %s%-7s %s", s.world.clock.elapsed, strings.Repeat("  ", s.world.depth), kind, text))
}

func (s *story) event(_, reason, message string) { s.said("event", reason+": "+message) }

func (s *story) logged(_ int, message string, values []any) { s.said("log", message+inWords(values)) }

func (s *story) failed(err error, message string, values []any) {
	s.said("log", fmt.Sprintf("%s: %v%s", message, err, inWords(values)))
}

// wrote is a line about a write and what is the case after it.
func (s *story) wrote(by *writer, version int64, object, after string) {
	s.said("write", fmt.Sprintf("v%d %s: %s %s", version, by.name, object, after))
}

const gone = "is gone"

func (s *story) deployment(by *writer, c change[*appsv1.Deployment]) {
	if c.new == nil {
		s.wrote(by, c.version, "Deployment "+c.old.Name, gone)
		return
	}
	s.wrote(by, c.version, "Deployment "+c.new.Name, fmt.Sprintf("wants %d of %s", *c.new.Spec.Replicas, c.new.Spec.Template.Spec.Containers[0].Image))
}

func (s *story) replicaSet(by *writer, c change[*appsv1.ReplicaSet]) {
	if c.new == nil {
		s.wrote(by, c.version, "ReplicaSet "+c.old.Name, gone)
		return
	}
	rs := c.new
	s.wrote(by, c.version, "ReplicaSet "+rs.Name, fmt.Sprintf("(%s) wants %d (of %s, at most %s), has %d, available %d",
		imageOf(rs), size(rs), rs.Annotations[rollout.DesiredReplicasAnnotation], rs.Annotations[rollout.MaxReplicasAnnotation],
		rs.Status.Replicas, rs.Status.AvailableReplicas))
}

func (s *story) pod(by *writer, c change[*corev1.Pod]) {
	if c.new == nil {
		s.wrote(by, c.version, "Pod "+c.old.Name, gone)
		return
	}
	pod := c.new
	s.wrote(by, c.version, "Pod "+pod.Name, fmt.Sprintf("%s ready=%s deleted=%t", pod.Status.Phase, readiness(pod), pod.DeletionTimestamp != nil))
}
