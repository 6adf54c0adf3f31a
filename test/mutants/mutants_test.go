package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	rolloutCore = "pkg/controllers/deployment/rollout/"
	scaleCore   = "pkg/controllers/replicaset/scale/"
	deployments = "pkg/controllers/deployment/"
	replicaSets = "pkg/controllers/replicaset/"
	ownerships  = "pkg/controllers/ownership/"
	workers     = "pkg/controllers/worker/"
)

// mutant is one wrong change.
type mutant struct {
	file     string
	old, new string
}

// patience is how long the simulation may look for what a mutant does wrong.
const patience = time.Minute

// TestTheSimulationNoticesEachMutant builds the simulation with each wrong change, and expects
// it to name a property that is violated.
func TestTheSimulationNoticesEachMutant(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range mutants() {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			output, err := simulate(t, root, m)
			if err == nil {
				t.Fatalf("nothing noticed in %s:\n%s", time.Since(begun).Round(time.Second), output)
			}
			caught := regexp.MustCompile(`_test\.go:\d+: ((?:seed \d+|\d+ replicas).*)`).FindStringSubmatch(output)
			if caught == nil {
				t.Fatalf("the simulation could not be run: %v\n%s", err, output)
			}
			t.Logf("noticed after %s: %s", time.Since(begun).Round(time.Second), caught[1])
		})
	}
}

// simulate runs the simulation over the program with the change in it.
func simulate(t *testing.T, root string, m mutant) (output string, err error) {
	t.Helper()
	file := filepath.Join(root, m.file)
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s has the text %d times, want it once:\n%s", m.file, n, m.old)
	}
	dir := t.TempDir()
	mutated, overlay, program := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "simulation.test")
	write(t, mutated, []byte(strings.Replace(string(source), m.old, m.new, 1)))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, overlay, replace)
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "./pkg/controllers/simulation")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the mutant: %v\n%s", err, out)
	}
	run := exec.Command(program, "-test.failfast", "-test.run", "^(TestExhaustive|TestSimulation)$", "-replicas", "1", "-time", patience.String())
	run.Dir = filepath.Join(root, "pkg/controllers/simulation")
	out, err := run.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
