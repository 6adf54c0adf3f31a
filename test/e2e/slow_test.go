package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// TestAnAPIServerThatAnswersSlowly: slow answers slow a rollout down and cost nobody the
// lease; answers that take longer than the lease allows end the process, with one line
// that says why. Healed, it goes on. kubernetes#129613, #108380, #98751, k3s#2615.
func TestAnAPIServerThatAnswersSlowly(t *testing.T) {
	b := behindProxy(t)
	s := b.newSpace(t)
	slow := b.Act(t, proxy.Rule{Action: proxy.Delay(600 * time.Millisecond)})
	s.Create(lab.NewDeployment("web", 3))
	s.Complete("web")
	s.WantPodCreates(3)
	slow.Remove()
	if !b.Process.Alive() {
		t.Fatal("slow answers have ended the process")
	}
	if s.NotOurs("the built-in loops run without a leader election here") {
		return
	}

	// The renew deadline is 4 seconds.
	b.Process.MayEnd()
	stuck := b.Act(t, proxy.Rule{Action: proxy.Delay(5 * time.Second)})
	s.Edit("web", lab.Replicas(5))
	select {
	case <-b.Process.Done():
	case <-time.After(lab.Patience):
		t.Fatal("an instance that cannot renew its lease goes on")
	}
	if code := b.Process.ExitCode(); code != 1 {
		t.Errorf("it ended with exit code %d, want 1", code)
	}
	log, err := os.ReadFile(b.Process.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	if lines := unloggedLines(string(log)); len(lines) != 1 || !strings.Contains(lines[0], "lease") {
		t.Errorf("beside its log it said %q, want one line about the lease", lines)
	}

	stuck.Remove()
	mark := s.Lab.Mark(t)
	if err := b.Process.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Complete("web")
	s.wantFewLists(mark)
}

// wantFewLists fails if the controllers under test have listed more than each of the three
// kinds once.
func (s *space) wantFewLists(since localcluster.AuditMark) {
	s.T.Helper()
	lists := s.Lab.Requests(s.T, since, func(entry localcluster.AuditEntry) bool {
		return entry.Verb == "list" && entry.Namespace == "" && slices.Contains(s.Writers, entry.User)
	})
	if len(lists) > 3 {
		s.T.Errorf("after the restart there were %d lists, want one of each kind at the most; the last: %s", len(lists), lab.Describe(lists[len(lists)-1]))
	}
}
