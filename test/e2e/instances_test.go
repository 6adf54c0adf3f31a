package e2e

import (
	"context"
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
	if !s.lab.ours {
		t.Log("the built-in loops run without a leader election here: there is nothing to compare")
		return
	}
	const size = 16
	s.standAside()
	leader := s.launch("leader")
	first := s.untilHeld()
	standby := s.launch("standby")

	s.create(newDeployment("web", size, rolling("2", "2")))
	s.complete("web")
	s.within(bounds{most: size + 2, least: size - 2}, func() {
		s.edit("web", image("web:2"))
		s.until("the middle of the rollout", func(st *story) string {
			if rs := st.withImage("web:2"); rs == nil || rs.Status.AvailableReplicas < 2 {
				return "no new Pods are available"
			}
			return ""
		})
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
	s.wantHandover(leader.user, standby.user)
	if err := standby.process.Stop(); err != nil {
		t.Error(err)
	}
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
		if s.t.Failed() {
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
func (s *space) launch(name string) instance {
	s.t.Helper()
	name += "-" + utilrand.String(5)
	if _, err := s.lab.cluster.Kubeconfig(name); err != nil {
		s.t.Fatal(err)
	}
	s.grantOurPermissions(name)
	process, err := s.lab.launch(s.t.Context(), name, name,
		"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=59m")
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

// wantHandover checks by the audit log that one user wrote until it gave the lease back,
// with its last write to it, and the other one from then on.
func (s *space) wantHandover(from, to string) {
	s.t.Helper()
	var release localcluster.AuditEntry
	writes := s.lab.requests(s.t, s.start, localcluster.AuditEntry.IsWrite)
	for _, write := range writes {
		if write.User == from && isLease(write) {
			release = write
		}
	}
	began := false
	for _, write := range writes {
		if write.Resource == "events" {
			continue // they tell what was done; they may come a moment later
		}
		if write.User == from && write.Completed.After(release.Received) && !isLease(write) {
			s.t.Errorf("a write that ended at %s, after its writer gave back the lease at %s: %s",
				clock(write.Completed), clock(release.Received), describe(write))
		}
		if write.User == to && !isLease(write) {
			began = true
			if write.Received.Before(release.Received) {
				s.t.Errorf("a write before the writer could have the lease, at %s: %s", clock(release.Received), describe(write))
			}
		}
	}
	if !began {
		s.t.Errorf("%s wrote nothing, want it to finish the rollout", to)
	}
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

// untilHeld waits until somebody has the lease.
func (s *space) untilHeld() string {
	s.t.Helper()
	holder := ""
	s.poll("somebody to hold the lease", func(context.Context) string {
		if holder = s.holder(); holder == "" {
			return "nobody does"
		}
		return ""
	})
	return holder
}
