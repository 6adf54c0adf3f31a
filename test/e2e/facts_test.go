package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

// facts are all that is compared of what a namespace holds: by object, the path of each
// field and its value. So each fact is a line, in a golden file as in a difference.
type facts map[string]map[string]string

// add adds a fact about an object.
func (f facts) add(object, path, value string) {
	if f[object] == nil {
		f[object] = map[string]string{}
	}
	f[object][path] = value
}

// count is the number of facts.
func (f facts) count() int {
	count := 0
	for _, fields := range f {
		count += len(fields)
	}
	return count
}

// normalizer replaces what no two runs have in common, and nothing else: UIDs by whose
// they are, the random end of a Pod's name by #, the namespace's name, the name under
// which the controllers under test own fields, and times. The names of ReplicaSets stay,
// for the hash in them is part of what is compared.
type normalizer struct {
	t         *testing.T
	namespace string
	manager   string            // as whom the controllers under test own fields
	uids      map[string]string // whose they are
	podNames  []*regexp.Regexp  // of the Pods of each ReplicaSet, seen or only asked for
}

// generated is the form of the random end of a name that the API server makes up.
const generated = "[bcdfghjklmnpqrstvwxz2456789]{5}"

// longestPrefix is how much the API server leaves of a generateName before it adds the
// random end.
const longestPrefix = 58

func newNormalizer(t *testing.T, namespace, manager string, st *lab.Story) *normalizer {
	n := &normalizer{t: t, namespace: namespace, manager: manager, uids: map[string]string{}}
	for _, seen := range st.Deployments.Seen {
		n.uids[string(seen.Object.UID)] = "Deployment " + seen.Object.Name
	}
	for _, seen := range st.Pods.Seen {
		n.uids[string(seen.Object.UID)] = "Pod " + seen.Object.Name
	}
	known := map[string]bool{}
	for _, seen := range st.ReplicaSets.Seen {
		rs := seen.Object
		n.uids[string(rs.UID)] = "ReplicaSet " + rs.Name
		if !known[rs.Name] {
			known[rs.Name] = true
			prefix := rs.Name + "-"
			prefix = prefix[:min(len(prefix), longestPrefix)]
			n.podNames = append(n.podNames, regexp.MustCompile(`\b(`+regexp.QuoteMeta(prefix)+`)`+generated+`\b`))
		}
	}
	return n
}

// timedOutWhy is what the condition says when the deadline has passed. The built-in loops say
// the first sentence, ours add why.
var timedOutWhy = regexp.MustCompile(`( has timed out progressing\.) .*`)

// text normalizes a value.
func (n *normalizer) text(text string) string {
	for uid, whose := range n.uids {
		text = strings.ReplaceAll(text, uid, "<UID of "+whose+">")
	}
	for _, name := range n.podNames {
		text = name.ReplaceAllString(text, "${1}#")
	}
	text = timedOutWhy.ReplaceAllString(text, "$1")
	return strings.ReplaceAll(text, n.namespace, "<namespace>")
}

// decode is an object as JSON has it, with the fields that are of one run only left out.
func (n *normalizer) decode(object metav1.Object) map[string]any {
	decoder := json.NewDecoder(strings.NewReader(lab.Encode(n.t, object)))
	decoder.UseNumber() // numbers stay as they are written
	decoded := map[string]any{}
	if err := decoder.Decode(&decoded); err != nil {
		n.t.Fatal(err)
	}
	metadata, _ := decoded["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(metadata, field)
	}
	return decoded
}

// flatten adds the fields of a decoded value under a path.
func (n *normalizer) flatten(f facts, object, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			f.add(object, path, "{}")
		}
		for key, field := range value {
			n.flatten(f, object, join(path, key), field)
		}
	case []any:
		if len(value) == 0 {
			f.add(object, path, "[]")
		}
		for i, element := range value {
			n.flatten(f, object, path+"["+position(path, i, element)+"]", element)
		}
	default:
		f.add(object, path, n.scalar(path, value))
	}
}

// position names an element of a list. Conditions have no order, so their type does it.
func position(path string, i int, element any) string {
	if condition, ok := element.(map[string]any); ok && strings.HasSuffix(path, "status.conditions") {
		return fmt.Sprint(condition["type"])
	}
	return fmt.Sprint(i)
}

// join puts a field's name behind a path.
func join(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	default:
		return path + "." + key
	}
}

// scalar is a value as text; of a time only that there is one.
func (n *normalizer) scalar(path string, value any) string {
	if text, ok := value.(string); ok && (strings.HasSuffix(path, "Time") || strings.HasSuffix(path, "Timestamp")) && text != "" {
		return "<time>"
	}
	return n.text(fmt.Sprint(value))
}

// object adds an object that has a name of its own.
func (n *normalizer) object(f facts, kind string, object metav1.Object) {
	name := kind + " " + n.text(object.GetName())
	n.flatten(f, name, "", n.decode(object))
	n.owners(f, name, object.GetManagedFields(), nil)
}

// owners adds who owns which fields, in the eyes of the API server.
func (n *normalizer) owners(f facts, name string, entries []metav1.ManagedFieldsEntry, only []string) {
	for _, entry := range entries {
		manager := entry.Manager
		if manager == n.manager {
			manager = theControllers
		}
		if only != nil && !slices.Contains(only, manager) {
			continue
		}
		fields := ""
		if entry.FieldsV1 != nil {
			fields = entry.FieldsV1.GetRawString()
		}
		who := strings.TrimSpace(fmt.Sprint(manager, " ", entry.Operation, " ", entry.Subresource))
		f.add(name, "managedFields["+who+"]", entry.APIVersion+" "+n.text(fields))
	}
}

// theControllers stands for the name under which the controllers under test own fields.
const theControllers = "<controllers>"

// pods adds the Pods. Those that are alike in all that is compared are one object, with
// their number. Left out is what others decide: the scheduler the node, admission the
// volume with a token, KWOK the status beside the phase, and what others own.
func (n *normalizer) pods(f facts, pods []*corev1.Pod) {
	alike := map[string]int{}
	decoded := map[string]facts{}
	for _, pod := range pods {
		one := n.pod(pod)
		text := lab.Encode(n.t, one)
		alike[text]++
		decoded[text] = one
	}
	for i, text := range slices.Sorted(maps.Keys(alike)) {
		for name, fields := range decoded[text] {
			// Pods of one ReplicaSet that differ are told apart by their place in the order of their texts.
			if f[name] != nil {
				name = fmt.Sprintf("%s (%d)", name, i)
			}
			f[name] = fields
			f.add(name, "number of such Pods", fmt.Sprint(alike[text]))
		}
	}
}

// pod is what is compared of one Pod.
func (n *normalizer) pod(pod *corev1.Pod) facts {
	isToken := func(name string) bool { return strings.HasPrefix(name, "kube-api-access-") }
	withoutToken := func(containers []corev1.Container) {
		for i, container := range containers {
			containers[i].VolumeMounts = slices.DeleteFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return isToken(m.Name) })
		}
	}
	f := facts{}
	name := "Pod " + n.text(pod.Name)
	f.add(name, "status.phase", string(pod.Status.Phase))
	pod = pod.DeepCopy()
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return isToken(v.Name) })
	withoutToken(pod.Spec.Containers)
	withoutToken(pod.Spec.InitContainers)
	n.flatten(f, name, "", n.decode(pod))
	n.owners(f, name, pod.ManagedFields, []string{theControllers})
	return f
}
