package simulation

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/pods"
)

// deployment notes what the Deployment loop reports.
func (t *tale) deployment(by *writer, c change[*appsv1.Deployment]) {
	if c.new == nil {
		t.collected(by, "Deployment "+c.old.Name)
	}
	if by.sync == nil || c.old == nil || c.new == nil {
		return
	}
	if a, b := counts(c.old.Status), counts(c.new.Status); a != b {
		t.does("reports %s", b)
	}
	if a, b := c.old.Status.CollisionCount, c.new.Status.CollisionCount; b != nil && (a == nil || *a != *b) {
		t.does("reports collisionCount %d", *b)
	}
	if a, b := c.old.Annotations[rollout.RevisionAnnotation], c.new.Annotations[rollout.RevisionAnnotation]; a != b {
		t.does("notes revision %s", b)
	}
	t.conditions(c)
}

// conditions notes which conditions the Deployment loop has changed.
func (t *tale) conditions(c change[*appsv1.Deployment]) {
	for _, now := range c.new.Status.Conditions {
		before := find(c.old, now.Type)
		if before == nil || before.Status != now.Status || before.Reason != now.Reason || before.Message != now.Message {
			t.does("reports %s=%s %s: %s", now.Type, now.Status, now.Reason, now.Message)
		}
	}
	for _, before := range c.old.Status.Conditions {
		if find(c.new, before.Type) == nil {
			t.does("reports no %s any more", before.Type)
		}
	}
}

// counts is a Deployment's status in words, except for what follows from the rest.
func counts(s appsv1.DeploymentStatus) string {
	text := fmt.Sprintf("%s, %d updated, %d ready, %d available", some(s.Replicas), s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas)
	if s.UnavailableReplicas > 0 {
		text += fmt.Sprintf(", %d unavailable", s.UnavailableReplicas)
	}
	if s.TerminatingReplicas != nil && *s.TerminatingReplicas > 0 {
		text += fmt.Sprintf(", %d stopping", *s.TerminatingReplicas)
	}
	return fmt.Sprintf("%s (generation %d)", text, s.ObservedGeneration)
}

// replicaSet names a new ReplicaSet, and notes what its loop reports.
func (t *tale) replicaSet(by *writer, c change[*appsv1.ReplicaSet]) {
	switch {
	case c.old == nil:
		t.names.replicaSet(c.new)
		return
	case c.new == nil:
		t.collected(by, c.old.Name)
		return
	case by.sync == nil:
		if isLeaving(c.old, c.new) {
			t.collected(by, c.new.Name+" once its Pods are gone")
		}
		return
	}
	a, b := c.old.Status, c.new.Status
	if text := has(b); has(a) != text {
		t.does("reports that %s has %s", c.new.Name, text)
	}
	for _, now := range b.Conditions {
		i := slices.IndexFunc(a.Conditions, func(before appsv1.ReplicaSetCondition) bool { return before.Type == now.Type })
		if i < 0 || a.Conditions[i].Reason != now.Reason || a.Conditions[i].Message != now.Message {
			t.does("reports %s=%s %s of %s: %s", now.Type, now.Status, now.Reason, c.new.Name, now.Message)
		}
	}
	if len(a.Conditions) > 0 && len(b.Conditions) == 0 {
		t.does("reports no %s of %s any more", a.Conditions[0].Type, c.new.Name)
	}
}

// has is a ReplicaSet's status in words.
func has(s appsv1.ReplicaSetStatus) string {
	text := fmt.Sprintf("%s, %d ready, %d available", some(s.Replicas), s.ReadyReplicas, s.AvailableReplicas)
	if s.TerminatingReplicas != nil && *s.TerminatingReplicas > 0 {
		text += fmt.Sprintf(", %d stopping", *s.TerminatingReplicas)
	}
	return text
}

// pod names a new Pod.
func (t *tale) pod(by *writer, c change[*corev1.Pod]) {
	switch {
	case c.old == nil:
		t.names.pod(c.new)
	case c.new == nil || isLeaving(c.old, c.new):
		t.collected(by, "Pod "+c.old.Name)
	}
}

// isLeaving reports whether a change is the beginning of a deletion.
func isLeaving(before, now metav1.Object) bool {
	return before.GetDeletionTimestamp() == nil && now.GetDeletionTimestamp() != nil
}

// collected notes what the garbage collector deletes.
func (t *tale) collected(by *writer, what string) {
	if by == &t.world.collector {
		t.does("deletes %s", what)
	}
}

// stateLine is what there is: each ReplicaSet with its size, and how far its Pods are from it.
func (t *tale) stateLine() string {
	s := t.world.server
	var cells []string
	for _, rs := range t.setsByAge() {
		if cell := t.cell(rs); cell != "" {
			cells = append(cells, cell)
		}
	}
	if free := countIf(s.pods.rows, func(p *corev1.Pod) bool { return controllerOf(p) == "" }); free > 0 {
		cells = append(cells, fmt.Sprintf("nobody's %d", free))
	}
	if len(cells) == 0 {
		return ""
	}
	for _, d := range s.deployments.rows {
		cells = append(cells, t.allOf(d))
	}
	return "= " + strings.Join(cells, " | ")
}

// setsByAge returns the ReplicaSets in the order in which they got their names.
func (t *tale) setsByAge() []*appsv1.ReplicaSet {
	sets := slices.Clone(t.world.server.replicaSets.rows)
	slices.SortFunc(sets, func(a, b *appsv1.ReplicaSet) int {
		return slices.Index(t.names.order, a.Name) - slices.Index(t.names.order, b.Name)
	})
	return sets
}

// cell is a ReplicaSet's size, and in which way its Pods are not as many.
func (t *tale) cell(rs *appsv1.ReplicaSet) string {
	there, ready, available := t.podsOf(rs)
	stopping := countIf(t.world.server.pods.rows, func(p *corev1.Pod) bool { return controllerOf(p) == rs.UID && pods.IsTerminating(p) })
	wanted := int(size(rs))
	if wanted+there+stopping == 0 {
		return ""
	}
	var but []string
	if there != wanted {
		but = append(but, fmt.Sprintf("%d there", there))
	}
	if ready != there {
		but = append(but, fmt.Sprintf("%d ready", ready))
	}
	if available != ready {
		but = append(but, fmt.Sprintf("%d available", available))
	}
	if stopping > 0 {
		but = append(but, fmt.Sprintf("%d stopping", stopping))
	}
	cell := fmt.Sprintf("%s %2d", t.names.labels[rs.Name], wanted)
	if len(but) > 0 {
		cell += " (" + strings.Join(but, ", ") + ")"
	}
	if controllerOf(rs) == "" && len(t.world.server.deployments.rows) > 0 {
		cell += " nobody's"
	}
	return cell
}

// podsOf counts the active Pods of a ReplicaSet.
func (t *tale) podsOf(rs *appsv1.ReplicaSet) (there, ready, available int) {
	for _, pod := range t.world.server.pods.rows {
		if controllerOf(pod) != rs.UID || !pods.IsActive(pod) {
			continue
		}
		there++
		if readiness(pod) == corev1.ConditionTrue {
			ready++
		}
		if pods.IsAvailable(pod, rs.Spec.MinReadySeconds, t.world.clock.Now()) {
			available++
		}
	}
	return there, ready, available
}

// allOf sums up a Deployment, beside its bounds.
func (t *tale) allOf(d *appsv1.Deployment) string {
	asked, available := 0, 0
	for _, rs := range t.world.check.setsOf(d.UID) {
		_, _, n := t.podsOf(rs)
		asked, available = asked+int(size(rs)), available+n
	}
	most, least := bounds(d)
	if d.Spec.Strategy.RollingUpdate == nil {
		return fmt.Sprintf("asked %d, available %d", asked, available)
	}
	return fmt.Sprintf("asked %s %d, available %s %d", against(asked, most, "≤"), most, against(-available, -least, "≥"), least)
}

// against is a number beside its bound: "3 ≤", or what is the case if it is not kept.
func against(n, most int, kept string) string {
	if n <= most {
		return fmt.Sprintf("%d %s", max(n, -n), kept)
	}
	return fmt.Sprintf("%d %s", max(n, -n), map[string]string{"≤": ">", "≥": "<"}[kept])
}

func countIf(all []*corev1.Pod, is func(*corev1.Pod) bool) int {
	n := 0
	for _, pod := range all {
		if is(pod) {
			n++
		}
	}
	return n
}
