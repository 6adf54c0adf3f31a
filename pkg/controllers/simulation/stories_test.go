package simulation

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateFlag = flag.Bool("update", false, "write the stories in testdata/stories anew")

// storyFolder has the stories, and a list of them.
const storyFolder = "testdata/stories"

// golden is a rollout with a name, and how it ends.
type golden struct {
	name  string // also that of its file
	shows string // in one sentence or two
	steps []step
	ends  ending
}

// chapter is some stories of a kind.
type chapter struct {
	title   string
	stories []golden
}

// chapters returns all stories, in the order in which they are best read.
func chapters() []chapter {
	return []chapter{
		{"Rolling updates", rollingStories()},
		{"When something is broken", brokenStories()},
		{"Sizes, pauses, strategies", scalingStories()},
		{"Recreate", recreateStories()},
		{"What belongs to whom, and what goes first", ownershipStories()},
		{"Refusals, lost answers, crashes", faultStories()},
	}
}

// TestStories tells each story, and compares it with the file that has it. A change of behavior
// is a change in a story. If it is meant, -update writes the files anew.
func TestStories(t *testing.T) {
	files := map[string]bool{"README.md": true}
	for _, chapter := range chapters() {
		for _, s := range chapter.stories {
			t.Run(s.name, func(t *testing.T) {
				if files[fileOf(s)] {
					t.Error("there are two stories of this name")
				}
				files[fileOf(s)] = true
				compare(t, fileOf(s), told(t, s))
			})
		}
	}
	t.Run("list of stories", func(t *testing.T) { compare(t, "README.md", contents()) })
	for _, file := range unused(t, files) {
		t.Errorf("%s is the file of no story; -update removes it", file)
	}
}

// told lets a story happen, until nothing happens any more, and returns it.
func told(t *testing.T, s golden) string {
	t.Helper()
	stage, ends := newStage(t.Fatalf), func(s *stage) { s.rest() }
	for _, step := range append(slices.Clone(s.steps), ends) {
		if step(stage); stage.check.violation != nil {
			t.Fatalf("a property does not hold: %v\n%s", stage.check.violation, strings.Join(stage.tale.lines, "\n"))
		}
	}
	if wrong := s.ends(stage); wrong != "" {
		t.Errorf("at its end %s", wrong)
	}
	stage.tale.repeated()
	lines := slices.Concat([]string{titleOf(s), ""}, wrapped("", 0, s.shows), stage.tale.lines)
	return strings.Join(lines, "\n") + "\n"
}

// unused returns the files in the folder that belong to no story; -update removes them.
func unused(t *testing.T, files map[string]bool) []string {
	t.Helper()
	existing, err := os.ReadDir(storyFolder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, file := range existing {
		if files[file.Name()] || *updateFlag && os.Remove(filepath.Join(storyFolder, file.Name())) == nil {
			continue
		}
		left = append(left, file.Name())
	}
	return left
}

// contents is the list of stories.
func contents() string {
	text := `# Stories

Rollouts as they happen, step by step, told by the simulation: both control loops are the real ones, the cluster is made of data.
A Pod is ready 5 seconds after it was made and takes 2 to stop, unless a story says otherwise. ReplicaSets and Pods are called by image
and letter here, not by hash. A line that begins with = has each ReplicaSet with its size and how far its Pods are from it, then how many
are asked for in all and how many are available, each beside its bound. "collector" is the garbage collector.

These files are golden files of TestStories: a change of behavior is a change in a story. They are written by

    go test ./pkg/controllers/simulation -run TestStories -update
`
	for _, chapter := range chapters() {
		text += fmt.Sprintf("\n## %s\n\n", chapter.title)
		for _, s := range chapter.stories {
			text += fmt.Sprintf("- [%s](%s): %s\n", titleOf(s), fileOf(s), s.shows)
		}
	}
	return text
}

func titleOf(s golden) string { return strings.ToUpper(s.name[:1]) + s.name[1:] }

func fileOf(s golden) string {
	words := strings.FieldsFunc(strings.ToLower(s.name), func(r rune) bool { return r == ' ' || r == ',' })
	return strings.Join(words, "-") + ".golden"
}

func compare(t *testing.T, file, now string) {
	t.Helper()
	path := filepath.Join(storyFolder, file)
	if *updateFlag {
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if before := string(text); before != now {
		t.Errorf("the story is another one; if it should be, let -update write it and look at what git diff shows.%s", firstChange(before, now))
	}
}

// firstChange shows where two texts part, and the lines before that.
func firstChange(before, now string) string {
	old, fresh := strings.Split(before, "\n"), strings.Split(now, "\n")
	n := 0
	for n < min(len(old), len(fresh))-1 && old[n] == fresh[n] {
		n++
	}
	context := strings.Join(old[max(0, n-8):n], "\n  ")
	return fmt.Sprintf(" From line %d on:\n  %s\n- %s\n+ %s", n+1, context, old[n], fresh[n])
}
