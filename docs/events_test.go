package docs

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// told is an event or a condition: what stands in the first cells of its row in events.md. In
// the code, the message is a regular expression.
type told struct{ object, kind, status, reason, message string }

// TestEventsAreWrittenDown fails for an event that the code can send and events.md does not
// have, and the other way round.
func TestEventsAreWrittenDown(t *testing.T) {
	s := readSource(t)
	var sent []told
	for path, object := range map[string]string{"deployment/events.go": "Deployment", "replicaset/events.go": "ReplicaSet"} {
		file := s.files[path]
		ast.Inspect(file, func(node ast.Node) bool {
			composite, ok := node.(*ast.CompositeLit)
			if !ok || len(composite.Elts) != 3 {
				return true
			}
			sent = append(sent, told{
				object:  object,
				kind:    strings.TrimPrefix(selectorName(composite.Elts[0]), "corev1.EventType"),
				reason:  s.constants[nameIn(file.Name.Name, composite.Elts[1])],
				message: s.pattern(file.Name.Name, composite.Elts[2]),
			})
			return true
		})
	}
	if len(sent) < 11 {
		t.Errorf("only %d events were found in the code; are they still values of the type event?", len(sent))
	}
	row := regexp.MustCompile("(?m)^\\| (\\w+) \\| (Normal|Warning) \\| `(\\w+)` \\| (.*?) \\| .+ \\| .+ \\|$")
	var written []told
	for _, cells := range row.FindAllStringSubmatch(readFile(t, "events.md"), -1) {
		written = append(written, told{object: cells[1], kind: cells[2], reason: cells[3], message: cells[4]})
	}
	wantSame(t, sent, written)
}

// TestConditionsAreWrittenDown does the same for the conditions.
func TestConditionsAreWrittenDown(t *testing.T) {
	s := readSource(t)
	set := s.deploymentConditions()
	for name, reason := range s.constants {
		if strings.HasPrefix(name, "scale.Reason") {
			set = append(set, told{object: "both", kind: "ReplicaFailure", status: "True", reason: reason, message: ".+"})
		}
	}
	row := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(\\w+)` \\| (True|False|Unknown) \\| `(\\w+)` \\| (.*?) \\| .+ \\| .+ \\|$")
	var written []told
	for _, cells := range row.FindAllStringSubmatch(readFile(t, "events.md"), -1) {
		written = append(written, told{cells[1], cells[2], cells[3], cells[4], cells[5]})
	}
	wantSame(t, set, written)
	known := map[string]bool{}
	for _, condition := range set {
		known[condition.reason] = true
	}
	for name, reason := range s.constants {
		if strings.HasPrefix(name, "rollout.Reason") && !known[reason] {
			t.Errorf("%s was not found where conditions are set", name)
		}
	}
}

// deploymentConditions finds where a condition is set: the arguments are its type, unless the
// function is for one type only, its status, its reason and its message.
func (s *source) deploymentConditions() []told {
	var found []told
	ast.Inspect(s.files["deployment/rollout/conditions.go"], func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		for i, argument := range call.Args {
			status, isStatus := strings.CutPrefix(selectorName(argument), "corev1.Condition")
			if !isStatus || i+2 >= len(call.Args) {
				continue
			}
			kind := "Progressing"
			if i > 0 {
				kind = strings.TrimPrefix(selectorName(call.Args[i-1]), "appsv1.Deployment")
			}
			found = append(found, told{
				object: "Deployment", kind: kind, status: status,
				reason:  s.constants[nameIn("rollout", call.Args[i+1])],
				message: s.pattern("rollout", call.Args[i+2]),
			})
		}
		return true
	})
	return found
}

// wantSame fails for what is only in the code, or only written down.
func wantSame(t *testing.T, inCode, written []told) {
	t.Helper()
	used := map[told]bool{}
	for _, c := range inCode {
		there := false
		for _, w := range written {
			same := c.object == w.object && c.kind == w.kind && c.status == w.status && c.reason == w.reason
			if same && regexp.MustCompile("^"+c.message+"$").MatchString(w.message) {
				there, used[w] = true, true
			}
		}
		if !there {
			t.Errorf("events.md has no row for %s %s %s %s %s", c.object, c.kind, c.status, c.reason, c.message)
		}
	}
	for _, w := range written {
		if !used[w] {
			t.Errorf("events.md has a row that is not in the code: %s %s %s %s %s", w.object, w.kind, w.status, w.reason, w.message)
		}
	}
}
