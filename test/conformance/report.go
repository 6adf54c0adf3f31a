package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
)

// controllers says what is under test.
func (o Options) controllers() string {
	if o.Builtin {
		return "the built-in loops of kube-controller-manager"
	}
	return "controller-manager"
}

// conclude writes the report, tells the summary and what was not as expected, and
// returns an error when too few specs passed.
func conclude(report types.Report, options Options) error {
	junit, markdown := filepath.Join(options.Folder, "junit.xml"), filepath.Join(options.Folder, "table.md")
	if err := reporters.GenerateJUnitReport(report, junit); err != nil {
		return fmt.Errorf("writing %s: %w", junit, err)
	}
	if err := os.WriteFile(markdown, []byte(table(report, options.controllers())), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", markdown, err)
	}
	for _, line := range surprises(report) {
		options.Log("%s", line)
	}
	options.Log("%s", summary(report, options.controllers()))
	options.Log("the report is in %s: table.md and junit.xml", options.Folder)
	if got := passed(report); got < bar {
		return fmt.Errorf("%d specs passed, and %d must; %s says why the others did not", got, bar, markdown)
	}
	return nil
}

func passed(report types.Report) int {
	return report.SpecReports.CountWithState(types.SpecStatePassed)
}

func summary(report types.Report, controllers string) string {
	return fmt.Sprintf("%d of %d specs pass under %s (%d must), after %.0f s", passed(report), len(report.SpecReports), controllers, bar, report.RunTime.Seconds())
}

// surprises names each spec that did not do as it is known to.
func surprises(report types.Report) []string {
	var lines []string
	known := cannotPass()
	for _, spec := range report.SpecReports {
		_, hopeless := known[spec.FullText()]
		switch passes := spec.State.Is(types.SpecStatePassed); {
		case passes && hopeless:
			lines = append(lines, "newly passes: "+spec.FullText())
		case !passes && !hopeless:
			lines = append(lines, "newly fails: "+spec.FullText()+": "+oneLine(spec.FailureMessage()))
		}
	}
	return lines
}

// table is the report for people: Markdown, with a row for each spec.
func table(report types.Report, controllers string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Kubernetes' end-to-end tests of Deployments and ReplicaSets\n\n%s.\n\n", summary(report, controllers))
	text.WriteString("| spec | result | seconds | why not |\n|---|---|---:|---|\n")
	known := cannotPass()
	for _, spec := range report.SpecReports {
		why := oneLine(spec.FailureMessage())
		if reason, hopeless := known[spec.FullText()]; hopeless && why != "" {
			why = reason + ": " + why
		}
		fmt.Fprintf(&text, "| %s | %s | %.1f | %s |\n", cell(spec.FullText()), spec.State, spec.RunTime.Seconds(), cell(why))
	}
	return text.String()
}

// oneLine cuts a message, which may be of any length and shape, to the part that tells most.
func oneLine(message string) string {
	const most = 200
	line := []rune(strings.Join(strings.Fields(message), " "))
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}

// cell keeps a text from ending the cell of a table that it stands in.
func cell(text string) string {
	return strings.ReplaceAll(text, "|", `\|`)
}
