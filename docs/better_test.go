package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestEveryRowOfBetterHasItsReportAndItsTest: that the cells are true is checked by the tests
// that they name.
func TestEveryRowOfBetterHasItsReportAndItsTest(t *testing.T) {
	text, err := os.ReadFile("better.md")
	if err != nil {
		t.Fatal(err)
	}
	suites := readSuites(t)
	// The second table has one column less: there both did the same.
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| (?:([^|]+) \| )?([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(string(text), -1)
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[4] == "test" }) // a head
	if len(rows) < 16 {
		t.Fatalf("better.md has %d rows; either rows were lost, or the form of its table has changed", len(rows))
	}
	report := regexp.MustCompile(` \[kubernetes#(\d+)\]\((.*)\)$`)
	for _, row := range rows {
		link := report.FindStringSubmatch(row[1])
		if link == nil {
			t.Errorf("a row does not end with a link to its report: %s", row[1])
		} else if address := regexp.MustCompile(fmt.Sprintf(`^https://github\.com/kubernetes/kubernetes/(issues|pull)/%s$`, link[1])); !address.MatchString(link[2]) {
			t.Errorf("kubernetes#%s is linked to %s", link[1], link[2])
		}
		test := reference.FindStringSubmatch(row[4])
		if test == nil {
			t.Errorf("a row names no test: %s", row[0])
		} else if problem := missing(suites, test); problem != "" {
			t.Error(problem)
		}
	}
}
