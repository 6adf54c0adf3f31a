package simulation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// names are what a tale calls ReplicaSets and Pods: by image and letter, not by hash. A change
// of the hash is then no change of a tale.
type names struct {
	pairs    [][2]string       // real names and those of the tale
	labels   map[string]string // of ReplicaSets, without the Deployment's name
	order    []string          // of the ReplicaSets
	born     map[string]int    // the Pods, by name, in the order of their creation
	letters  map[string]int    // how many Pods a ReplicaSet has had
	replacer *strings.Replacer
}

func newNames() names {
	return names{labels: map[string]string{}, letters: map[string]int{}, born: map[string]int{}}
}

// hashed is the name of a ReplicaSet that was never made.
var hashed = regexp.MustCompile(`web-[bcdf-hj-np-tv-xz2-9]{7,10}\b`)

// replicaSet gives a ReplicaSet a name, unless it has one.
func (n *names) replicaSet(rs *appsv1.ReplicaSet) {
	if n.labels[rs.Name] != "" {
		return
	}
	if !strings.HasPrefix(rs.Name, "web-") {
		n.labels[rs.Name] = rs.Name
		n.order = append(n.order, rs.Name)
		return
	}
	label := imageOf(rs)
	for same := 2; n.taken(label); same++ {
		label = fmt.Sprintf("%s-%d", imageOf(rs), same)
	}
	n.labels[rs.Name] = label
	n.order = append(n.order, rs.Name)
	n.call(rs.Name, "web-"+label)
}

func (n *names) taken(label string) bool {
	for _, other := range n.labels {
		if other == label {
			return true
		}
	}
	return false
}

// pod gives a Pod a name: that of its ReplicaSet and a letter, by the order of creation.
func (n *names) pod(pod *corev1.Pod) {
	prefix, _ := strings.CutSuffix(pod.GenerateName, "-")
	if prefix == "" || slices.ContainsFunc(n.pairs, func(pair [2]string) bool { return pair[0] == pod.Name }) {
		return
	}
	letter := string(rune('a' + n.letters[prefix]%26))
	if round := n.letters[prefix] / 26; round > 0 {
		letter += fmt.Sprint(round + 1)
	}
	n.letters[prefix]++
	n.born[pod.Name] = len(n.born)
	n.call(pod.Name, n.plain(prefix)+"-"+letter)
}

func (n *names) call(name, plain string) {
	n.pairs = append(n.pairs, [2]string{name, plain})
	n.replacer = nil
}

// plain returns a text with the names of the tale.
func (n *names) plain(text string) string {
	if n.replacer == nil {
		slices.SortStableFunc(n.pairs, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
		var flat []string
		for _, pair := range n.pairs {
			flat = append(flat, pair[0], pair[1])
		}
		n.replacer = strings.NewReplacer(flat...)
	}
	return hashed.ReplaceAllString(n.replacer.Replace(text), "web-(hash)")
}
