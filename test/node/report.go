package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// result is what came of a step.
type result struct {
	claim      string
	err        error // nil: it is so
	took       time.Duration
	transcript string
}

func (r result) line() string {
	if r.err != nil {
		return fmt.Sprintf("FAILED after %.0f s: %s: %v", r.took.Seconds(), r.claim, r.err)
	}
	return fmt.Sprintf("ok after %.0f s: %s", r.took.Seconds(), r.claim)
}

// report is what came of all.
type report struct {
	versions []string // of what took part, each with its name
	wanted   int      // steps there are
	results  []result // of those that were gone through
	took     time.Duration
}

// passed says whether all steps were gone through and none failed.
func (r report) passed() bool {
	return r.wanted > 0 && r.ok() == r.wanted
}

func (r report) ok() int {
	count := 0
	for _, result := range r.results {
		if result.err == nil {
			count++
		}
	}
	return count
}

func (r report) summary() string {
	return fmt.Sprintf("%d of %d steps pass on a real node, after %.0f s", r.ok(), r.wanted, r.took.Seconds())
}

// write puts report.md into the folder.
func (r report) write(folder string) error {
	path := filepath.Join(folder, "report.md")
	if err := os.WriteFile(path, []byte(r.markdown()), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// markdown is a row for each step, and then what was seen in each.
func (r report) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "# The static pod on a real node\n\n%s.\n\n", r.summary())
	for _, version := range r.versions {
		fmt.Fprintf(&text, "- %s\n", version)
	}
	text.WriteString("\n| step | result | seconds |\n|---|---|---:|\n")
	for _, result := range r.results {
		fmt.Fprintf(&text, "| %s | %s | %.0f |\n", result.claim, result.word(), result.took.Seconds())
	}
	for _, result := range r.results {
		fmt.Fprintf(&text, "\n## %s\n\n```text\n%s```\n", result.claim, result.transcript)
		if result.err != nil {
			fmt.Fprintf(&text, "\nFailed: %v\n", result.err)
		}
	}
	return text.String()
}

func (r result) word() string {
	if r.err != nil {
		return "failed"
	}
	return "ok"
}
