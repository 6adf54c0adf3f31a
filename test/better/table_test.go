package better

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// update makes the tests write the table.
var update = flag.Bool("update", false, "write what was seen into the cells of docs/better.md")

const table = "../../docs/better.md"

// wantRow compares the cells of the test's row with what was seen, or writes them. A row is
// | report | cells | test |, and the test's name tells it from the others. The cells are what the built-in
// loops and ours did, or one for both.
func wantRow(t *testing.T, cells ...string) {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	end := fmt.Sprintf(" | `better.%s` |", t.Name())
	for i, line := range lines {
		if !strings.HasSuffix(line, end) {
			continue
		}
		report, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		want := "| " + report + " | " + strings.Join(cells, " | ") + end
		if *update {
			lines[i] = want
			if err := os.WriteFile(table, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(want, line); diff != "" {
			t.Errorf("%s says otherwise; go test -update writes it (-seen +written):\n%s", table, diff)
		}
		return
	}
	t.Errorf("%s has no row that ends with %q", table, strings.TrimSpace(end))
}
