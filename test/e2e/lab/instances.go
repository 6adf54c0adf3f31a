package lab

import (
	"context"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
)

// The lease of the program under test.
const (
	leaseNamespace = "kube-system"
	LeaseName      = "controller-manager"
)

// Instance is a process of our program with a user of its own.
type Instance struct {
	Process *localcluster.Process
	User    string
}

// StandAside stops the process under test until the end of the test.
func (s *Space) StandAside() {
	s.T.Helper()
	if err := s.Lab.Process.Stop(); err != nil {
		s.T.Error(err)
	}
	s.T.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.T.Context()), Patience)
		defer cancel()
		if s.T.Failed() && s.Lab.Ours {
			s.forgetLease(ctx) // a long one may be held by nobody who lives
		}
		if err := s.Lab.Process.Restart(ctx); err != nil {
			s.T.Errorf("starting the process under test again: %v", err)
		}
	})
}

// ForgetLease removes the lease, which may be held by one that has gone.
func (s *Space) ForgetLease() {
	s.T.Helper()
	s.forgetLease(s.T.Context())
}

func (s *Space) forgetLease(ctx context.Context) {
	s.T.Helper()
	err := s.Client.CoordinationV1().Leases(leaseNamespace).Delete(ctx, LeaseName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.T.Errorf("removing the lease: %v", err)
	}
}

// Launch starts another instance, ready to lead or to stand by.
func (s *Space) Launch(name string, flags ...string) Instance {
	s.T.Helper()
	name += "-" + utilrand.String(5)
	if _, err := s.Lab.Cluster.Kubeconfig(name); err != nil {
		s.T.Fatal(err)
	}
	s.grantOurPermissions(name)
	process, err := s.Lab.Launch(s.T.Context(), name, name, flags...)
	if err != nil {
		s.T.Fatal(err)
	}
	stopAfter(s.T, process)
	s.Writers = append(s.Writers, name)
	s.Processes = append(s.Processes, process)
	return Instance{Process: process, User: name}
}

// WantHandover checks by the audit log that one user wrote until a request about the
// lease was received, and the other one from then on.
func (s *Space) WantHandover(from, to string, handover localcluster.AuditEntry) {
	s.T.Helper()
	began := false
	for _, write := range s.Lab.Requests(s.T, s.Start, localcluster.AuditEntry.IsWrite) {
		if isLease(write) {
			continue
		}
		if write.User == from && write.Completed.After(handover.Received) {
			s.T.Errorf("a write that ended at %s, after the lease had gone on at %s: %s",
				Clock(write.Completed), Clock(handover.Received), Describe(write))
		}
		if write.User == to {
			began = true
			if write.Received.Before(handover.Received) {
				s.T.Errorf("a write before the writer could have the lease, at %s: %s", Clock(handover.Received), Describe(write))
			}
		}
	}
	if !began {
		s.T.Errorf("%s wrote nothing, want it to finish the rollout", to)
	}
}

// LastRenewal is a user's last write of the lease. One that ends gives it back with that.
func (s *Space) LastRenewal(user string) localcluster.AuditEntry {
	s.T.Helper()
	renewals := s.renewals(user)
	return renewals[len(renewals)-1]
}

// FirstRenewal is the write with which a user took the lease.
func (s *Space) FirstRenewal(user string) localcluster.AuditEntry {
	s.T.Helper()
	return s.renewals(user)[0]
}

func (s *Space) renewals(user string) []localcluster.AuditEntry {
	s.T.Helper()
	renewals := s.Lab.Requests(s.T, s.Start, func(entry localcluster.AuditEntry) bool {
		return entry.IsWrite() && entry.User == user && isLease(entry) && entry.Code < 300
	})
	if len(renewals) == 0 {
		s.T.Fatalf("%s never wrote the lease", user)
	}
	return renewals
}

func isLease(entry localcluster.AuditEntry) bool {
	return entry.Resource == "leases" && entry.Namespace == leaseNamespace && entry.Name == LeaseName
}

// Clock is a time of day, to the millisecond.
func Clock(at time.Time) string { return at.Format("15:04:05.000") }

// Holder is who has the lease; empty if nobody has.
func (s *Space) Holder() string {
	s.T.Helper()
	lease, err := s.Client.CoordinationV1().Leases(leaseNamespace).Get(s.T.Context(), LeaseName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ""
	case err != nil:
		s.T.Fatalf("reading the lease: %v", err)
	case lease.Spec.HolderIdentity != nil:
		return *lease.Spec.HolderIdentity
	}
	return ""
}

// UntilHeld waits until somebody else than before has the lease, and returns who.
func (s *Space) UntilHeld(before string) string {
	s.T.Helper()
	holder := ""
	s.Poll("another one to hold the lease", func(context.Context) string {
		if holder = s.Holder(); holder == "" || holder == before {
			return "it is held by " + strconv.Quote(holder)
		}
		return ""
	})
	return holder
}

// LaunchBuiltin starts the two built-in loops beside a cluster that has them turned off, until
// the end of the test. The flags are added to its own.
func (l *Lab) LaunchBuiltin(t *testing.T, flags ...string) *localcluster.Process {
	t.Helper()
	command, err := l.Cluster.BuiltinLoops("built-in-"+utilrand.String(5), flags...)
	if err != nil {
		t.Fatal(err)
	}
	process, err := l.Cluster.Launch(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, process)
	return process
}

// stopAfter stops a process at the end of the test.
func stopAfter(t *testing.T, process *localcluster.Process) {
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// Restart starts the process under test again.
func (s *Space) Restart() {
	s.T.Helper()
	if err := s.Lab.Process.Restart(s.T.Context()); err != nil {
		s.T.Fatalf("starting the process under test again: %v", err)
	}
}
