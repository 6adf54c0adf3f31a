package rollout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Changes returns what admission has changed of a new ReplicaSet so that it cannot serve as that:
// the paths of the fields of its template or, if they keep the Deployment from finding it, of
// its labels. It is empty for one that came out as it was sent, in all that matters.
func Changes(d *appsv1.Deployment, sent, answered *appsv1.ReplicaSet) []string {
	if !sameTemplate(&sent.Spec.Template, &answered.Spec.Template) {
		before, after := withoutHash(&sent.Spec.Template), withoutHash(&answered.Spec.Template)
		return differing("spec.template", asJSON(before), asJSON(after))
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err == nil && !selector.Matches(labels.Set(answered.Labels)) {
		return differing("metadata.labels", asJSON(sent.Labels), asJSON(answered.Labels))
	}
	return nil
}

// asJSON is a value in the form that paths are told in.
func asJSON(value any) any {
	var plain any
	if text, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(text, &plain) // what was just written can be read
	}
	return plain
}

// differing returns the paths at which two values differ, as deep as both have them.
func differing(path string, a, b any) []string {
	left, isMap := a.(map[string]any)
	right, areMaps := b.(map[string]any)
	if isMap && areMaps {
		var paths []string
		keys := maps.Clone(left)
		maps.Copy(keys, right)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			paths = append(paths, differing(path+"."+key, left[key], right[key])...)
		}
		return paths
	}
	before, isList := a.([]any)
	after, areLists := b.([]any)
	if isList && areLists && len(before) == len(after) {
		var paths []string
		for i := range before {
			paths = append(paths, differing(fmt.Sprintf("%s[%d]", path, i), before[i], after[i])...)
		}
		return paths
	}
	if a == nil && b == nil || !isMap && !isList && a == b {
		return nil
	}
	return []string{path}
}
