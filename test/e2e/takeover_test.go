package e2e

import (
	"context"
	"os"
	"strings"
	"testing"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// foreignWrites is the metric of writes of a status that were not ours.
const foreignWrites = "controller_manager_foreign_status_writes_total"

// TestTheBuiltInLoopsBeside starts our program where the built-in loops were forgotten to be
// turned off: as it is by default, and so that it ends. It is alone on the cluster meanwhile.
func TestTheBuiltInLoopsBeside(t *testing.T) {
	s := newSpace(t)
	if s.NotOurs("this is about our program beside them") {
		return
	}
	s.StandAside()
	s.Create(lab.NewDeployment("web", 1))
	s.Lab.LaunchBuiltin(t)
	s.Complete("web")

	warned := s.Launch("warned")
	reader := s.mayReadAll(warned.Process.URL + "/metrics")
	s.untilBothHaveWritten("a warning", func() string {
		if !strings.Contains(logOf(t, warned.Process), "Another program runs the same control loops") {
			return "none is logged"
		}
		return ""
	})
	wantAdvice(t, lineWith(logOf(t, warned.Process), "Another program runs the same control loops"))
	if s.foreignWrites(reader, warned.Process.URL) < 3 {
		t.Errorf("%s is below 3", foreignWrites)
	}
	if err := warned.Process.Stop(); err != nil {
		t.Error(err)
	}
	if code := warned.Process.ExitCode(); code != 0 {
		t.Errorf("the instance that only warns ended with exit code %d, want 0", code)
	}

	failing := s.Launch("failing", append(longLease(), "--takeover-check=fail")...)
	failing.Process.MayEnd()
	s.untilBothHaveWritten("the end", func() string {
		if failing.Process.Alive() {
			return "it goes on"
		}
		return ""
	})
	if code := failing.Process.ExitCode(); code != 1 {
		t.Errorf("it ended with exit code %d, want 1", code)
	}
	said := strings.Split(strings.TrimSpace(logOf(t, failing.Process)), "\n")
	last, isPlain := strings.CutPrefix(said[len(said)-1], "controller-manager: ")
	if !isPlain {
		t.Errorf("the last line is %q, want one for people", last)
	}
	wantAdvice(t, last)
	if line := lineWith(logOf(t, failing.Process), "Another program"); line != "" {
		t.Errorf("it is logged besides: %s", line)
	}
	if holder := s.Holder(); holder != "" {
		t.Errorf("the lease is held by %q, want it given back", holder)
	}
}

// untilBothHaveWritten gives the loops something to do until what is expected has come of it.
func (s *space) untilBothHaveWritten(what string, missing func() string) {
	s.T.Helper()
	size := int32(1)
	s.Poll(what, func(context.Context) string {
		size = size%3 + 1
		s.Edit("web", lab.Replicas(size))
		return missing()
	})
}

// foreignWrites is how many writes of others a process has counted, of both kinds.
func (s *space) foreignWrites(reader reader, url string) float64 {
	s.T.Helper()
	family := s.families(reader, url)[foreignWrites]
	if len(family.GetMetric()) != 2 {
		s.T.Fatalf("%s has %d values, want one for each loop", foreignWrites, len(family.GetMetric()))
	}
	sum := 0.0
	for _, metric := range family.GetMetric() {
		sum += metric.GetCounter().GetValue()
	}
	return sum
}

// wantAdvice checks that a line says who it is, what it writes, and what to do.
func wantAdvice(t *testing.T, line string) {
	t.Helper()
	for _, part := range []string{"kube-controller-manager writes the status of", "/web",
		"turn off deployment-controller and replicaset-controller"} {
		if !strings.Contains(line, part) {
			t.Errorf("it said %q, which lacks %q", line, part)
		}
	}
}

// lineWith is the first line that holds a text.
func lineWith(log, text string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func logOf(t *testing.T, process *localcluster.Process) string {
	t.Helper()
	text, err := os.ReadFile(process.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
