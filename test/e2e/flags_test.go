package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// documented is a row of the table of flags: what a flag is called, its default, and how that
// of kube-controller-manager compares.
type documented struct{ name, initial, builtin string }

// TestFlagsAreThoseOfTheBuiltIn holds what docs/flags.md says of kube-controller-manager
// against that program's --help.
func TestFlagsAreThoseOfTheBuiltIn(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our flags") {
		return
	}
	command, err := s.Lab.Cluster.BuiltinLoops("help")
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.CommandContext(t.Context(), command.Path, "--help").Output()
	if err != nil {
		t.Fatalf("asking for the flags of the built-in: %v", err)
	}
	theirs := flagsIn(string(help))
	flags := documentedFlags(t)
	if len(flags) < 25 {
		t.Errorf("docs/flags.md has only %d flags", len(flags))
	}
	other := regexp.MustCompile("but `(.*)`")
	for _, ours := range flags {
		initial, known := theirs[ours.name]
		if has := ours.builtin != "has none"; has != known {
			t.Errorf("--%s: kube-controller-manager has it: %t; docs/flags.md says %q", ours.name, known, ours.builtin)
			continue
		}
		want := ours.initial
		if differs := other.FindStringSubmatch(ours.builtin); differs != nil {
			want = differs[1]
		}
		if known && plain(initial) != plain(want) {
			t.Errorf("--%s: the default of kube-controller-manager is %q; docs/flags.md says %q", ours.name, initial, want)
		}
	}
}

// flagsIn are the flags of a --help, and the default of each, which ends what is said of it.
func flagsIn(help string) map[string]string {
	initial := regexp.MustCompile(`\(default ([^()]*)\)`)
	flags := map[string]string{}
	for _, said := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--`).Split(help, -1)[1:] {
		flags[strings.Fields(said)[0]] = ""
		if all := initial.FindAllStringSubmatch(said, -1); len(all) > 0 {
			flags[strings.Fields(said)[0]] = all[len(all)-1][1]
		}
	}
	return flags
}

// plain is a default without what only says of which type it is: --help leaves out what is
// empty, false or 0.
func plain(initial string) string {
	initial = strings.Trim(initial, `"[]`)
	if initial == "false" || initial == "0" {
		return ""
	}
	return initial
}

func documentedFlags(t *testing.T) []documented {
	t.Helper()
	text, err := os.ReadFile("../../docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `--?([a-z-]+)[^|]* \\| `?(.*?)`? \\| .* \\| (.*) \\|$")
	var flags []documented
	for _, cells := range row.FindAllStringSubmatch(string(text), -1) {
		flags = append(flags, documented{name: cells[1], initial: cells[2], builtin: cells[3]})
	}
	return flags
}
