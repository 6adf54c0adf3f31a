package docs

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the tables anew that are made from the code")

// What stands between these two lines of a file is made from the code.
const (
	tableBegin = "<!-- Made from the code by: go test ./docs -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// wantTable compares the table in a file with the one that the code gives, or writes it.
func wantTable(t *testing.T, path string, header []string, rows [][]string) {
	t.Helper()
	text := readFile(t, path)
	before, rest, begins := strings.Cut(text, tableBegin)
	got, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		t.Fatalf("%s lacks the line %s or the line %s", path, tableBegin, tableEnd)
	}
	var table strings.Builder
	table.WriteString("\n" + line(header) + strings.Repeat("|---", len(header)) + "|\n")
	for _, row := range rows {
		table.WriteString(line(row))
	}
	want := table.String() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+tableBegin+want+tableEnd+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table in %s is not what the code gives; go test ./docs -update writes it anew (-code +file):\n%s", path, diff)
	}
}

// line is a row of a table. A bar within a cell would end it.
func line(cells []string) string {
	var row strings.Builder
	for _, cell := range cells {
		row.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
	}
	return row.String() + "|\n"
}

// code marks a text as one to be typed; nothing stays nothing.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
