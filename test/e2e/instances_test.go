package e2e

import (
	"testing"
	"time"

	"controller-manager/test/e2e/lab"
)

// TestOnlyOneOfTwoInstancesActs runs two instances as users of their own, so that the
// audit log tells them apart. Their lease lasts longer than the test: only one that was
// given back can be taken over.
func TestOnlyOneOfTwoInstancesActs(t *testing.T) {
	s := newSpace(t)
	if s.NotOurs("the built-in loops run without a leader election here") {
		return
	}
	const size = 16
	s.StandAside()
	leader := s.Launch("leader", longLease()...)
	first := s.UntilHeld("")
	standby := s.Launch("standby", longLease()...)

	s.Create(lab.NewDeployment("web", size, lab.Rolling("2", "2")))
	s.Complete("web")
	s.Within(lab.Bounds{Most: size + 2, Least: size - 2}, func() {
		s.Edit("web", lab.Image("web:2"))
		s.untilMiddle()
		if err := leader.Process.Stop(); err != nil {
			t.Error(err)
		}
		s.Complete("web")
	})
	if code := leader.Process.ExitCode(); code != 0 {
		t.Errorf("the leader ended with exit code %d after SIGTERM, want 0", code)
	}
	if second := s.Holder(); second == first || second == "" {
		t.Errorf("the lease is held by %q after %q has gone", second, first)
	}
	s.WantPodCreates(2 * size)
	s.WantHandover(leader.User, standby.User, s.LastRenewal(leader.User))
	if err := standby.Process.Stop(); err != nil {
		t.Error(err)
	}
}

// longLease makes a lease last longer than any test.
func longLease() []string {
	return []string{"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=59m"}
}

// TestALeaderThatWasFrozenWritesNothingMore lets a leader stand still until another one
// leads, and then go on in the middle of its work.
func TestALeaderThatWasFrozenWritesNothingMore(t *testing.T) {
	s := newSpace(t)
	if s.NotOurs("the built-in loops run without a leader election here") {
		return
	}
	s.StandAside()
	leader := s.Launch("leader")
	first := s.UntilHeld("")
	standby := s.Launch("standby")
	s.Create(lab.NewDeployment("web", 16, lab.Rolling("1", "1")))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"))
	s.untilMiddle()
	if err := leader.Process.Freeze(); err != nil {
		t.Fatal(err)
	}
	leader.Process.MayEnd()
	s.UntilHeld(first)
	s.Complete("web")
	s.Edit("web", lab.Image("web:3"))
	s.UntilNewest("web", 3)
	if err := leader.Process.Thaw(); err != nil {
		t.Fatal(err)
	}
	s.Complete("web")
	select {
	case <-leader.Process.Done():
	case <-time.After(lab.Patience):
		t.Fatal("the instance that has lost its lease goes on")
	}
	if code := leader.Process.ExitCode(); code != 1 {
		t.Errorf("the instance that has lost its lease ended with exit code %d, want 1", code)
	}
	s.WantHandover(leader.User, standby.User, s.FirstRenewal(standby.User))
}

// untilMiddle waits until a rollout to web:2 has come some way.
func (s *space) untilMiddle() {
	s.T.Helper()
	s.Until("the middle of the rollout", func(st *lab.Story) string {
		if rs := st.WithImage("web:2"); rs == nil || rs.Status.AvailableReplicas < 2 {
			return "no new Pods are available"
		}
		return ""
	})
}
