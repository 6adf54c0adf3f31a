package docs

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// root is the top of the repository; the tests of all its modules are searched.
const root = ".."

// reference is how contract.md names a test: package.TestName or package.TestName/subtest.
var reference = regexp.MustCompile("`([a-z0-9-]+)\\.(Test\\w+)(?:/([^`]+))?`")

// rule is a row of contract.md.
type rule struct {
	id, text string
	line     int
	tests    [][]string // of each: the whole, the package, the function, the subtest
}

// suite is what a package's test files hold: the string literals of each test, the names
// of its subtests among them.
type suite map[string]map[string]bool

// TestEveryRuleOfTheContractHasItsTests fails for a rule without a test, for a test that
// does not exist, and for a rule that is there twice.
func TestEveryRuleOfTheContractHasItsTests(t *testing.T) {
	suites := readSuites(t)
	rules := readRules(t, "contract.md")
	if len(rules) < 190 {
		t.Fatalf("contract.md has %d rules; either rules were lost, or the form of its tables has changed", len(rules))
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.id] {
			t.Errorf("line %d: there is another rule %s", r.line, r.id)
		}
		seen[r.id] = true
		if len(r.tests) == 0 {
			t.Errorf("line %d: rule %s names no test: %s", r.line, r.id, r.text)
		}
		for _, test := range r.tests {
			if problem := missing(suites, test); problem != "" {
				t.Errorf("line %d: rule %s: %s", r.line, r.id, problem)
			}
		}
	}
}

// missing says what of a reference does not exist, if anything.
func missing(suites map[string]suite, test []string) string {
	s := suites[test[1]]
	texts, there := s[test[2]]
	switch {
	case s == nil:
		return fmt.Sprintf("no package %s has tests", test[1])
	case !there:
		return fmt.Sprintf("package %s has no test %s", test[1], test[2])
	case test[3] != "" && !texts[test[3]]:
		return fmt.Sprintf("%s of package %s has no part that is called %q", test[2], test[1], test[3])
	}
	return ""
}

// readRules reads the rows of the tables: | id | rule | tests |.
func readRules(t *testing.T, path string) []rule {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	row := regexp.MustCompile(`^\| ([A-Z]+\d+) \| (.+?) \| (.*) \|$`)
	var rules []rule
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		if cells := row.FindStringSubmatch(lines.Text()); cells != nil {
			rules = append(rules, rule{id: cells[1], text: cells[2], line: number, tests: reference.FindAllStringSubmatch(cells[3], -1)})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rules
}

// readSuites parses all test files of the repository, by the name of their folder.
func readSuites(t *testing.T) map[string]suite {
	t.Helper()
	suites := map[string]suite{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "bin" || entry.Name() == "build" || entry.Name() == ".git"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.Base(filepath.Dir(path))
		if suites[name] == nil {
			suites[name] = suite{}
		}
		suites[name].add(parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return suites
}

func (s suite) add(file *ast.File) {
	for _, declaration := range file.Decls {
		test, ok := declaration.(*ast.FuncDecl)
		if !ok || test.Recv != nil || !strings.HasPrefix(test.Name.Name, "Test") {
			continue
		}
		texts := map[string]bool{}
		ast.Inspect(test, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					texts[text] = true
				}
			}
			return true
		})
		s[test.Name.Name] = texts
	}
}
