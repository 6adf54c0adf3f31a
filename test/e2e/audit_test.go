package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"controller-manager/localcluster"
)

// pollPeriod is how often something is looked at that cannot be watched.
const pollPeriod = 100 * time.Millisecond

// mark is the present end of the audit log.
func (l *lab) mark(t *testing.T) localcluster.AuditMark {
	t.Helper()
	mark, err := l.cluster.AuditLog.Mark()
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

// requests are those since a mark that satisfy a condition.
func (l *lab) requests(t *testing.T, since localcluster.AuditMark, wanted func(localcluster.AuditEntry) bool) []localcluster.AuditEntry {
	t.Helper()
	entries, err := l.cluster.AuditLog.Since(since)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(entry localcluster.AuditEntry) bool { return !wanted(entry) })
}

// writes are what the controllers under test have written in the namespace.
func (s *space) writes(since localcluster.AuditMark) []localcluster.AuditEntry {
	s.t.Helper()
	return s.lab.requests(s.t, since, func(entry localcluster.AuditEntry) bool {
		return entry.IsWrite() && entry.Namespace == s.name && slices.Contains(s.writers, entry.User)
	})
}

// podCreates are the requests of the controllers under test to create a Pod, in the
// whole time of the test, that were answered with the HTTP status.
func (s *space) podCreates(status int) []localcluster.AuditEntry {
	s.t.Helper()
	return s.podRequests("create", status)
}

// podDeletes are those to delete a Pod.
func (s *space) podDeletes(status int) []localcluster.AuditEntry {
	s.t.Helper()
	return s.podRequests("delete", status)
}

func (s *space) podRequests(verb string, status int) []localcluster.AuditEntry {
	s.t.Helper()
	return slices.DeleteFunc(s.writes(s.start), func(entry localcluster.AuditEntry) bool {
		return entry.Verb != verb || entry.Resource != "pods" || entry.Subresource != "" || entry.Code != status
	})
}

// wantPodCreates waits until the audit log shows a number of Pods that were created,
// and fails if it shows more.
func (s *space) wantPodCreates(want int) {
	s.t.Helper()
	const created = 201
	got := 0
	s.poll("the audit log to show all creates", func(context.Context) string {
		if got = len(s.podCreates(created)); got < want {
			return fmt.Sprintf("%d Pods were created, want %d", got, want)
		}
		return ""
	})
	if got > want {
		s.t.Errorf("%d Pods were created, want %d", got, want)
	}
}

// describe is a request in a line.
func describe(entry localcluster.AuditEntry) string {
	return fmt.Sprintf("%s %s %s %s → %d by %s", entry.Received.Format("15:04:05.000"), entry.Verb,
		entry.Resource+"/"+entry.Subresource, entry.Namespace+"/"+entry.Name, entry.Code, entry.User)
}
