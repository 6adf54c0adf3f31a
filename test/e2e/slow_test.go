package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
)

// TestAnAPIServerThatAnswersSlowly: slow answers slow a rollout down and cost nobody the
// lease; answers that take longer than the lease allows end the process, with one line
// that says why. Healed, it goes on. kubernetes#129613, #108380, #98751, k3s#2615.
func TestAnAPIServerThatAnswersSlowly(t *testing.T) {
	b := behindProxy(t)
	s := b.newSpace(t)
	slow := b.act(t, proxy.Rule{Action: proxy.Delay(600 * time.Millisecond)})
	s.create(newDeployment("web", 3))
	s.complete("web")
	s.wantPodCreates(3)
	slow.Remove()
	if !b.process.Alive() {
		t.Fatal("slow answers have ended the process")
	}
	if s.notOurs("the built-in loops run without a leader election here") {
		return
	}

	// The renew deadline is 4 seconds.
	b.process.MayEnd()
	stuck := b.act(t, proxy.Rule{Action: proxy.Delay(5 * time.Second)})
	s.edit("web", replicas(5))
	select {
	case <-b.process.Done():
	case <-time.After(patience):
		t.Fatal("an instance that cannot renew its lease goes on")
	}
	if code := b.process.ExitCode(); code != 1 {
		t.Errorf("it ended with exit code %d, want 1", code)
	}
	log, err := os.ReadFile(b.process.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	if lines := unloggedLines(string(log)); len(lines) != 1 || !strings.Contains(lines[0], "lease") {
		t.Errorf("beside its log it said %q, want one line about the lease", lines)
	}

	stuck.Remove()
	mark := s.lab.mark(t)
	if err := b.process.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.complete("web")
	s.wantFewLists(mark)
}

// wantFewLists fails if the controllers under test have listed more than each of the three
// kinds once.
func (s *space) wantFewLists(since localcluster.AuditMark) {
	s.t.Helper()
	lists := s.lab.requests(s.t, since, func(entry localcluster.AuditEntry) bool {
		return entry.Verb == "list" && entry.Namespace == "" && slices.Contains(s.writers, entry.User)
	})
	if len(lists) > 3 {
		s.t.Errorf("after the restart there were %d lists, want one of each kind at the most; the last: %s", len(lists), describe(lists[len(lists)-1]))
	}
}
