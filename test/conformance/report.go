package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// returns an error when a spec failed that can pass, or when specs are missing.
func conclude(report types.Report, options Options) error {
	junit, markdown := filepath.Join(options.Folder, "junit.xml"), filepath.Join(options.Folder, "table.md")
	if err := reporters.GenerateJUnitReport(report, junit); err != nil {
		return fmt.Errorf("writing %s: %w", junit, err)
	}
	if err := os.WriteFile(markdown, []byte(table(report, options.controllers())), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", markdown, err)
	}
	passes, fails := surprises(report)
	for _, line := range slices.Concat(passes, fails) {
		options.Log("%s", line)
	}
	options.Log("%s", summary(report, options.controllers()))
	options.Log("the report is in %s: table.md and junit.xml", options.Folder)
	switch ran := len(report.SpecReports); {
	case len(fails) > 0:
		return fmt.Errorf("%d specs failed that can pass; %s says why", len(fails), markdown)
	case ran < fewest:
		return fmt.Errorf("there were %d specs, and at least %d are known: look whether their names have changed", ran, fewest)
	}
	return nil
}

func passed(report types.Report) int {
	return report.SpecReports.CountWithState(types.SpecStatePassed)
}

// must is how many of the specs have to pass: all but those that cannot.
func must(report types.Report) int {
	known := cannotPass()
	count := 0
	for _, spec := range report.SpecReports {
		if _, hopeless := known[spec.FullText()]; !hopeless {
			count++
		}
	}
	return count
}

func summary(report types.Report, controllers string) string {
	return fmt.Sprintf("%d of %d specs pass under %s (%d must), after %.0f s", passed(report), len(report.SpecReports), controllers, must(report), report.RunTime.Seconds())
}

// surprises names each spec that did not do as it is known to.
func surprises(report types.Report) (newlyPasses, newlyFails []string) {
	known := cannotPass()
	for _, spec := range report.SpecReports {
		_, hopeless := known[spec.FullText()]
		switch passes := spec.State.Is(types.SpecStatePassed); {
		case passes && hopeless:
			newlyPasses = append(newlyPasses, "newly passes: "+spec.FullText())
		case !passes && !hopeless:
			newlyFails = append(newlyFails, "newly fails: "+spec.FullText()+": "+oneLine(spec.FailureMessage()))
		}
	}
	return newlyPasses, newlyFails
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
