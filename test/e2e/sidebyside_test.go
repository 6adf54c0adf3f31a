package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"controller-manager/test/e2e/lab"
)

// update makes the tests write down what the built-in loops do.
var update = flag.Bool("update", false, "write what the built-in loops do to the golden files (with E2E_CONTROLLERS=builtin)")

// scenario is a script of user actions. Each step waits until the controllers have
// answered it in full, and rollouts are steered, so that there is but one way to the end.
type scenario struct {
	name  string // also of its golden file
	steps func(*space)
	// uncounted are reasons of events whose number depends on timing, and why.
	uncounted map[string]string
}

// theScenarios are all of them, by theme.
func theScenarios() []scenario {
	return slices.Concat(
		createScenarios(), templateScenarios(), scaleScenarios(), rollScenarios(), steeredScenarios(), pauseScenarios(),
		historyScenarios(), annotationScenarios(), recreateScenarios(), failureScenarios(),
		ownershipScenarios(), deleteScenarios(), replicaSetScenarios(),
	)
}

// TestSideBySide compares what scenarios end with, field by field, with what they end
// with under the built-in loops. It is the same: there is no list of exceptions, but for what
// only ours say (onlyOurs, and why a deadline has passed, see normalizer.text). What the
// built-in loops do is kept in golden files; with E2E_CONTROLLERS=builtin the test proves
// that they are still true, and with -update as well it writes them.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	l := theLab.Get(t)
	if *update && l.Ours {
		t.Fatal("the golden files say what the built-in loops do: set E2E_CONTROLLERS=builtin to write them")
	}
	scenarios := theScenarios()
	spaces := make([]*space, len(scenarios))
	t.Run("scenario", func(group *testing.T) {
		for i, sc := range scenarios {
			group.Run(sc.name, func(step *testing.T) {
				step.Parallel()
				s := newSpaceUntil(step, t)
				sc.steps(s)
				if !*update {
					s.untilFacts(sc)
				}
				spaces[i] = s
			})
		}
	})
	// What the controllers still had to write, if anything, is written after this.
	l.UntilAllIsWritten(t)
	for i, sc := range scenarios {
		if spaces[i] != nil {
			spaces[i].as(t).wantFacts(sc)
		}
	}
}

// untilFacts waits until the namespace holds what it should.
func (s *space) untilFacts(sc scenario) {
	s.T.Helper()
	want := sc.want(s.T)
	s.Until("what the built-in loops end with (-want +got)", func(st *lab.Story) string {
		return cmp.Diff(want, s.facts(st, sc.uncounted))
	})
}

// wantFacts compares what the namespace holds after everything was written, or writes it down.
func (s *space) wantFacts(sc scenario) {
	s.T.Helper()
	got := s.facts(s.Recorder.Now(), sc.uncounted)
	if *update {
		sc.write(s.T, got)
	}
	want := sc.want(s.T)
	if diff := cmp.Diff(want, got); diff != "" {
		s.T.Errorf("%s does not stay as it was (-want +got):\n%s", sc.name, diff)
	}
	report("side by side: %-45s %3d objects, %4d fields compared", sc.name, len(want), want.count())
}

// report prints a line of the report of make parity.
func report(format string, args ...any) {
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}

func (sc scenario) path() string {
	return filepath.Join("testdata", "sidebyside", sc.name+".yaml")
}

func (sc scenario) write(t *testing.T, f facts) {
	t.Helper()
	text, err := yaml.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(sc.path()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sc.path(), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// want is what the scenario ends with, by the golden file.
func (sc scenario) want(t *testing.T) facts {
	t.Helper()
	text, err := os.ReadFile(sc.path())
	if err != nil {
		t.Fatalf("there is nothing to compare with; E2E_CONTROLLERS=builtin go test -run TestSideBySide -update writes it: %v", err)
	}
	want := facts{}
	if err := yaml.Unmarshal(text, &want); err != nil {
		t.Fatalf("reading %s: %v", sc.path(), err)
	}
	return want
}

// TestGoldenFilesBelongToScenarios finds names that are used twice, and golden files of no scenario.
func TestGoldenFilesBelongToScenarios(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, sc := range theScenarios() {
		if known[sc.path()] {
			t.Errorf("two scenarios are called %s", sc.name)
		}
		known[sc.path()] = true
	}
	files, err := filepath.Glob(scenario{name: "*"}.path())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s belongs to no scenario: remove it", file)
		}
	}
}
