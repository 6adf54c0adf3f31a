package better

import (
	"fmt"
	"os"
	"testing"

	"controller-manager/test/e2e/lab"
)

// finding is what came of a script.
type finding struct {
	fault   bool   // it was seen
	cell    string // what was seen, as every run sees it: the cell of the table
	counted string // what was counted in this run besides; may be empty
}

// script does what users did who reported a fault, and looks whether it is there.
type script func(*testing.T, *lab.Lab) finding

// prove runs a script under the built-in loops and under ours, with the same flags: the fault
// must be there and not be there, and the test's row of the table must say so.
func prove(t *testing.T, run script, flags ...string) {
	t.Helper()
	builtin, ours := underBuiltin(t, run, flags), underOurs(t, run, flags)
	if t.Failed() {
		return
	}
	if !builtin.fault {
		t.Errorf("the built-in loops do not have the fault: %s", builtin)
	}
	if ours.fault {
		t.Errorf("ours have the fault too: %s", ours)
	}
	fmt.Fprintf(os.Stdout, "%s\n  built-in: %s\n  ours:     %s\n", t.Name(), builtin, ours)
	if t.Failed() {
		return // what was seen is no claim to be written down
	}
	wantRow(t, builtin.cell, ours.cell)
}

func underBuiltin(t *testing.T, run script, flags []string) (found finding) {
	t.Helper()
	l := theLab.Get(t)
	t.Run("built-in", func(t *testing.T) { found = run(t, l.WithBuiltin(t, flags...)) })
	return found
}

func underOurs(t *testing.T, run script, flags []string) (found finding) {
	t.Helper()
	l := theLab.Get(t)
	t.Run("ours", func(t *testing.T) { found = run(t, l.WithOurs(t, flags...)) })
	return found
}

func (f finding) String() string {
	if f.counted == "" {
		return f.cell
	}
	return f.cell + " (" + f.counted + ")"
}
