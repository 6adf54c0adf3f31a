package e2e

import (
	"context"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
)

// The lease of the program under test.
const leaseNamespace, leaseName = "kube-system", "controller-manager"

// TestOnlyOneOfTwoInstancesActs runs two instances as users of their own, so that the
// audit log tells them apart. Their lease lasts longer than the test: only one that was
// given back can be taken over.
func TestOnlyOneOfTwoInstancesActs(t *testing.T) {
	s := newSpace(t)
	if s.notOurs("the built-in loops run without a leader election here") {
		return
	}
	const size = 16
	s.standAside()
	leader := s.launch("leader", longLease()...)
	first := s.untilHeld("")
	standby := s.launch("standby", longLease()...)

	s.create(newDeployment("web", size, rolling("2", "2")))
	s.complete("web")
	s.within(bounds{most: size + 2, least: size - 2}, func() {
		s.edit("web", image("web:2"))
		s.untilMiddle()
		if err := leader.process.Stop(); err != nil {
			t.Error(err)
		}
		s.complete("web")
	})
	if code := leader.process.ExitCode(); code != 0 {
		t.Errorf("the leader ended with exit code %d after SIGTERM, want 0", code)
	}
	if second := s.holder(); second == first || second == "" {
		t.Errorf("the lease is held by %q after %q has gone", second, first)
	}
	s.wantPodCreates(2 * size)
	s.wantHandover(leader.user, standby.user, s.lastRenewal(leader.user))
	if err := standby.process.Stop(); err != nil {
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
	if s.notOurs("the built-in loops run without a leader election here") {
		return
	}
	s.standAside()
	leader := s.launch("leader")
	first := s.untilHeld("")
	standby := s.launch("standby")
	s.create(newDeployment("web", 16, rolling("1", "1")))
	s.complete("web")
	s.edit("web", image("web:2"))
	s.untilMiddle()
	if err := leader.process.Freeze(); err != nil {
		t.Fatal(err)
	}
	leader.process.MayEnd()
	s.untilHeld(first)
	s.complete("web")
	s.edit("web", image("web:3"))
	s.untilNewest("web", 3)
	if err := leader.process.Thaw(); err != nil {
		t.Fatal(err)
	}
	s.complete("web")
	select {
	case <-leader.process.Done():
	case <-time.After(patience):
		t.Fatal("the instance that has lost its lease goes on")
	}
	if code := leader.process.ExitCode(); code != 1 {
		t.Errorf("the instance that has lost its lease ended with exit code %d, want 1", code)
	}
	s.wantHandover(leader.user, standby.user, s.firstRenewal(standby.user))
}

// untilMiddle waits until a rollout to web:2 has come some way.
func (s *space) untilMiddle() {
	s.t.Helper()
	s.until("the middle of the rollout", func(st *story) string {
		if rs := st.withImage("web:2"); rs == nil || rs.Status.AvailableReplicas < 2 {
			return "no new Pods are available"
		}
		return ""
	})
}

// instance is a process of our program with a user of its own.
type instance struct {
	process *localcluster.Process
	user    string
}

// standAside stops the process under test until the end of the test.
func (s *space) standAside() {
	s.t.Helper()
	if err := s.lab.process.Stop(); err != nil {
		s.t.Error(err)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), patience)
		defer cancel()
		if s.t.Failed() && s.lab.ours {
			// The long lease may be held by nobody who lives.
			if err := s.client.CoordinationV1().Leases(leaseNamespace).Delete(ctx, leaseName, metav1.DeleteOptions{}); err != nil {
				s.t.Errorf("removing the lease: %v", err)
			}
		}
		if err := s.lab.process.Restart(ctx); err != nil {
			s.t.Errorf("starting the process under test again: %v", err)
		}
	})
}

// launch starts another instance, ready to lead or to stand by.
func (s *space) launch(name string, flags ...string) instance {
	s.t.Helper()
	name += "-" + utilrand.String(5)
	if _, err := s.lab.cluster.Kubeconfig(name); err != nil {
		s.t.Fatal(err)
	}
	s.grantOurPermissions(name)
	process, err := s.lab.launch(s.t.Context(), name, name, flags...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			s.t.Error(err)
		}
	})
	s.writers = append(s.writers, name)
	s.processes = append(s.processes, process)
	return instance{process: process, user: name}
}

// wantHandover checks by the audit log that one user wrote until a request about the
// lease was received, and the other one from then on.
func (s *space) wantHandover(from, to string, handover localcluster.AuditEntry) {
	s.t.Helper()
	began := false
	for _, write := range s.lab.requests(s.t, s.start, localcluster.AuditEntry.IsWrite) {
		if isLease(write) {
			continue
		}
		if write.User == from && write.Completed.After(handover.Received) {
			s.t.Errorf("a write that ended at %s, after the lease had gone on at %s: %s",
				clock(write.Completed), clock(handover.Received), describe(write))
		}
		if write.User == to {
			began = true
			if write.Received.Before(handover.Received) {
				s.t.Errorf("a write before the writer could have the lease, at %s: %s", clock(handover.Received), describe(write))
			}
		}
	}
	if !began {
		s.t.Errorf("%s wrote nothing, want it to finish the rollout", to)
	}
}

// lastRenewal is a user's last write of the lease. One that ends gives it back with that.
func (s *space) lastRenewal(user string) localcluster.AuditEntry {
	s.t.Helper()
	renewals := s.renewals(user)
	return renewals[len(renewals)-1]
}

// firstRenewal is the write with which a user took the lease.
func (s *space) firstRenewal(user string) localcluster.AuditEntry {
	s.t.Helper()
	return s.renewals(user)[0]
}

func (s *space) renewals(user string) []localcluster.AuditEntry {
	s.t.Helper()
	renewals := s.lab.requests(s.t, s.start, func(entry localcluster.AuditEntry) bool {
		return entry.IsWrite() && entry.User == user && isLease(entry) && entry.Code < 300
	})
	if len(renewals) == 0 {
		s.t.Fatalf("%s never wrote the lease", user)
	}
	return renewals
}

func isLease(entry localcluster.AuditEntry) bool {
	return entry.Resource == "leases" && entry.Namespace == leaseNamespace && entry.Name == leaseName
}

func clock(at time.Time) string { return at.Format("15:04:05.000") }

func (s *space) lease() *coordinationv1.Lease {
	s.t.Helper()
	lease, err := s.client.CoordinationV1().Leases(leaseNamespace).Get(s.t.Context(), leaseName, metav1.GetOptions{})
	if err != nil {
		s.t.Fatalf("reading the lease: %v", err)
	}
	return lease
}

// holder is who has the lease; empty if nobody has.
func (s *space) holder() string {
	s.t.Helper()
	if holder := s.lease().Spec.HolderIdentity; holder != nil {
		return *holder
	}
	return ""
}

// untilHeld waits until somebody else than before has the lease, and returns who.
func (s *space) untilHeld(before string) string {
	s.t.Helper()
	holder := ""
	s.poll("another one to hold the lease", func(context.Context) string {
		if holder = s.holder(); holder == "" || holder == before {
			return "it is held by " + strconv.Quote(holder)
		}
		return ""
	})
	return holder
}
