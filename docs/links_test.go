package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// pages are the files for people whose links are checked.
func pages() []string {
	return []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "deploy/README.md", "docs/contract.md",
		"docs/operate.md", "docs/flags.md", "docs/metrics.md", "docs/events.md"}
}

// TestLinksLeadSomewhere follows each link to a file of the project, and to a heading in it.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages() {
		for _, match := range link.FindAllStringSubmatch(readFile(t, filepath.Join(root, page)), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(match[1], "#")
			target := filepath.Join(root, page)
			if path != "" {
				target = filepath.Join(root, filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, match[1])
			} else if anchor != "" && !slices.Contains(anchors(t, target), anchor) {
				t.Errorf("%s: there is no such heading: %s", page, match[1])
			}
		}
	}
}

// anchors are how links name the headings of a page.
func anchors(t *testing.T, path string) []string {
	t.Helper()
	var anchors []string
	unsaid := regexp.MustCompile(`[^a-z0-9 _-]`)
	for _, heading := range headings(readFile(t, path)) {
		anchors = append(anchors, strings.ReplaceAll(unsaid.ReplaceAllString(strings.ToLower(heading.text), ""), " ", "-"))
	}
	return anchors
}

// heading is "## text", of level 2.
type heading struct {
	level int
	text  string
}

// headings are those of a page, outside of what is shown as it is typed.
func headings(page string) []heading {
	page = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
	var found []heading
	for _, match := range regexp.MustCompile(`(?m)^(#+) (.+)$`).FindAllStringSubmatch(page, -1) {
		found = append(found, heading{len(match[1]), match[2]})
	}
	return found
}

// TestTheContentsAreComplete compares the table of contents of operate.md with its sections.
func TestTheContentsAreComplete(t *testing.T) {
	page := readFile(t, "operate.md")
	contents, _, _ := strings.Cut(page, "\n## ")
	for _, heading := range headings(page) {
		if heading.level == 2 && !strings.Contains(contents, "["+heading.text+"](#") {
			t.Errorf("the contents lack %q", heading.text)
		}
	}
}

// TestEveryAlertHasItsSection fails for an alert that does not name a section of operate.md
// about it, and for a section about an alert that does not exist.
func TestEveryAlertHasItsSection(t *testing.T) {
	var rules struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Annotations map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, root+"/deploy/monitoring/rules.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, heading := range headings(readFile(t, "operate.md")) {
		if strings.HasPrefix(heading.text, "ControllerManager") {
			sections[heading.text] = true
		}
	}
	for _, group := range rules.Spec.Groups {
		for _, rule := range group.Rules {
			if !sections[rule.Alert] {
				t.Errorf("operate.md has no section %s", rule.Alert)
			}
			delete(sections, rule.Alert)
			if got, want := rule.Annotations["runbook"], "docs/operate.md#"+strings.ToLower(rule.Alert); got != want {
				t.Errorf("the runbook of %s is %q, want %q", rule.Alert, got, want)
			}
		}
	}
	for name := range sections {
		t.Errorf("there is no alert %s", name)
	}
}
