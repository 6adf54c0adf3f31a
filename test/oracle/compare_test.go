package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// difference is one field in which two worlds differ.
type difference struct {
	// object is the name of a ReplicaSet, or "" for the Deployment.
	object string
	// field is for example "size", "annotation deployment.kubernetes.io/revision",
	// "status.readyReplicas" or "condition Progressing".
	field string
	// ours and theirs are the values; "none" where there is none.
	ours, theirs string
}

func (d difference) String() string {
	return fmt.Sprintf("%s %s: ours %s, theirs %s", d.object, d.field, d.ours, d.theirs)
}

const none = "none"

// compare returns the differences between two worlds.
func compare(ours, theirs *world) []difference {
	differences := compareFields("", deploymentFields(ours.deployment), deploymentFields(theirs.deployment))
	if a, b := withSize(ours.deployment).Spec, withSize(theirs.deployment).Spec; !apiequality.Semantic.DeepEqual(a, b) {
		differences = append(differences, difference{field: "spec", ours: a.String(), theirs: b.String()})
	}
	names := map[string]bool{}
	for name := range ours.sets {
		names[name] = true
	}
	for name := range theirs.sets {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := ours.sets[name], theirs.sets[name]
		if a == nil || b == nil {
			differences = append(differences, difference{object: name, field: "existence", ours: exists(a), theirs: exists(b)})
			continue
		}
		differences = append(differences, compareFields(name, replicaSetFields(a), replicaSetFields(b))...)
	}
	return differences
}

// valueOf returns what a world has in the field that two others differ in.
func valueOf(w *world, d difference) string {
	rs := w.sets[d.object]
	fields := map[string]string{"existence": exists(rs)}
	switch {
	case d.object == "":
		fields = deploymentFields(w.deployment)
		fields["spec"] = specOf(w.deployment)
	case rs != nil:
		maps.Copy(fields, replicaSetFields(rs))
	}
	if value, has := fields[d.field]; has {
		return value
	}
	return none
}

func specOf(d *appsv1.Deployment) string {
	spec := withSize(d).Spec
	return spec.String()
}

func exists(rs *appsv1.ReplicaSet) string {
	if rs == nil {
		return none
	}
	return fmt.Sprintf("there with size %s", text(rs.Spec.Replicas))
}

func compareFields(object string, ours, theirs map[string]string) []difference {
	var differences []difference
	fields := maps.Clone(ours)
	maps.Copy(fields, theirs)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		a, hasA := ours[field]
		b, hasB := theirs[field]
		if hasA && hasB && a == b {
			continue
		}
		if !hasA {
			a = none
		}
		if !hasB {
			b = none
		}
		differences = append(differences, difference{object: object, field: field, ours: a, theirs: b})
	}
	return differences
}

func deploymentFields(d *appsv1.Deployment) map[string]string {
	status := d.Status
	fields := map[string]string{
		"status.observedGeneration":  fmt.Sprint(status.ObservedGeneration),
		"status.replicas":            fmt.Sprint(status.Replicas),
		"status.updatedReplicas":     fmt.Sprint(status.UpdatedReplicas),
		"status.readyReplicas":       fmt.Sprint(status.ReadyReplicas),
		"status.availableReplicas":   fmt.Sprint(status.AvailableReplicas),
		"status.unavailableReplicas": fmt.Sprint(status.UnavailableReplicas),
		"status.terminatingReplicas": text(status.TerminatingReplicas),
		"status.collisionCount":      text(status.CollisionCount),
	}
	for _, c := range status.Conditions {
		fields["condition "+string(c.Type)] = strings.Join([]string{string(c.Status), c.Reason, c.Message}, " ")
		fields["updated "+string(c.Type)] = c.LastUpdateTime.String()
		fields["transition "+string(c.Type)] = c.LastTransitionTime.String()
	}
	addAnnotations(fields, d.Annotations)
	return fields
}

func replicaSetFields(rs *appsv1.ReplicaSet) map[string]string {
	size := int32(1)
	if rs.Spec.Replicas != nil {
		size = *rs.Spec.Replicas
	}
	fields := map[string]string{
		"size":            fmt.Sprint(size),
		"minReadySeconds": fmt.Sprint(rs.Spec.MinReadySeconds),
		"labels":          fmt.Sprint(rs.Labels),
		"owners":          owners(rs),
		"selector":        metav1.FormatLabelSelector(rs.Spec.Selector),
		"template":        rs.Spec.Template.String(),
	}
	addAnnotations(fields, rs.Annotations)
	return fields
}

func owners(rs *appsv1.ReplicaSet) string {
	var owners []string
	for _, owner := range rs.OwnerReferences {
		owners = append(owners, owner.String())
	}
	return strings.Join(owners, ", ")
}

func addAnnotations(fields, annotations map[string]string) {
	for key, value := range annotations {
		fields["annotation "+key] = fmt.Sprintf("%q", value)
	}
}

func text(number *int32) string {
	if number == nil {
		return none
	}
	return fmt.Sprint(*number)
}
