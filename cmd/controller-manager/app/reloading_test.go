package app

import (
	"errors"
	"os"
	"strings"
	"testing"

	"k8s.io/klog/v2/ktesting"
)

// notes is a file that is read again when it changes, and the log about that.
type notes struct {
	*reloading[string]
	path string
	log  ktesting.Buffer
}

// newNotes makes a file of which the word "garbage" makes no sense.
func newNotes(t *testing.T) notes {
	t.Helper()
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
	path := writeFile(t, "notes", "first")
	parse := func(contents [][]byte) (string, error) {
		if text := string(contents[0]); text != "garbage" {
			return text, nil
		}
		return "", errors.New("it makes no sense")
	}
	r, err := newReloading(logger, parse, path)
	if err != nil {
		t.Fatal(err)
	}
	return notes{r, path, logger.GetSink().(ktesting.Underlier).GetBuffer()}
}

func TestWhatIsWrongWithFilesIsSaidOnceHoweverManyConnect(t *testing.T) {
	n := newNotes(t)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(n.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		want   string
		errors int // in the log after three connections, all steps together
		reads  int
	}{
		{"nothing has changed", func() {}, "first", 0, 0},
		{"the file is gone", func() { _ = os.Remove(n.path) }, "first", 1, 0},
		{"it is garbage", func() { write("garbage") }, "first", 2, 0},
		{"it is gone again", func() { _ = os.Remove(n.path) }, "first", 3, 0},
		{"it is back as it was", func() { write("first") }, "first", 3, 1},
		{"it is gone once more", func() { _ = os.Remove(n.path) }, "first", 4, 1},
		{"another one is there", func() { write("second") }, "second", 4, 2},
	} {
		step.change()
		for range 3 {
			if got := n.get(); got != step.want {
				t.Errorf("%s: got %q, want %q", step.name, got, step.want)
			}
		}
		log := n.log.String()
		if got := strings.Count(log, "cannot be used"); got != step.errors {
			t.Errorf("%s: %d errors in the log, want %d:\n%s", step.name, got, step.errors, log)
		}
		if got := strings.Count(log, "read again"); got != step.reads {
			t.Errorf("%s: the log says %d times that it was read, want %d:\n%s", step.name, got, step.reads, log)
		}
	}
}
