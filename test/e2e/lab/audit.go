package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
)

// pollPeriod is how often something is looked at that cannot be watched.
const pollPeriod = 100 * time.Millisecond

// Mark is the present end of the audit log.
func (l *Lab) Mark(t *testing.T) localcluster.AuditMark {
	t.Helper()
	mark, err := l.Cluster.AuditLog.Mark()
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

// Requests are those since a mark that satisfy a condition.
func (l *Lab) Requests(t *testing.T, since localcluster.AuditMark, wanted func(localcluster.AuditEntry) bool) []localcluster.AuditEntry {
	t.Helper()
	entries, err := l.Cluster.AuditLog.Since(since)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(entry localcluster.AuditEntry) bool { return !wanted(entry) })
}

// Writes are what the controllers under test have written in the namespace.
func (s *Space) Writes(since localcluster.AuditMark) []localcluster.AuditEntry {
	s.T.Helper()
	return s.Lab.Requests(s.T, since, func(entry localcluster.AuditEntry) bool {
		return entry.IsWrite() && entry.Namespace == s.Name && slices.Contains(s.Writers, entry.User)
	})
}

// PodCreates are the requests of the controllers under test to create a Pod, in the
// whole time of the test, that were answered with the HTTP status.
func (s *Space) PodCreates(status int) []localcluster.AuditEntry {
	s.T.Helper()
	return s.podRequests("create", status)
}

// PodDeletes are those to delete a Pod.
func (s *Space) PodDeletes(status int) []localcluster.AuditEntry {
	s.T.Helper()
	return s.podRequests("delete", status)
}

func (s *Space) podRequests(verb string, status int) []localcluster.AuditEntry {
	s.T.Helper()
	return slices.DeleteFunc(s.Writes(s.Start), func(entry localcluster.AuditEntry) bool {
		return entry.Verb != verb || entry.Resource != "pods" || entry.Subresource != "" || entry.Code != status
	})
}

// WantPodCreates waits until the audit log shows a number of Pods that were created,
// and fails if it shows more.
func (s *Space) WantPodCreates(want int) {
	s.T.Helper()
	const created = 201
	got := 0
	s.Poll("the audit log to show all creates", func(context.Context) string {
		if got = len(s.PodCreates(created)); got < want {
			return fmt.Sprintf("%d Pods were created, want %d", got, want)
		}
		return ""
	})
	if got > want {
		s.T.Errorf("%d Pods were created, want %d", got, want)
	}
}

// Describe is a request in a line.
func Describe(entry localcluster.AuditEntry) string {
	return fmt.Sprintf("%s %s %s %s → %d by %s", entry.Received.Format("15:04:05.000"), entry.Verb,
		entry.Resource+"/"+entry.Subresource, entry.Namespace+"/"+entry.Name, entry.Code, entry.User)
}

// UntilWritten waits until the controllers under test have done and written all that
// they had to do before: until they have carried out a rollout that was asked for later,
// and have written the events about it, which they write in order.
func (s *Space) UntilWritten() {
	s.T.Helper()
	s.Lab.UntilAllIsWritten(s.T)
}

// UntilAllIsWritten is Space.UntilWritten, for a test without a space.
func (l *Lab) UntilAllIsWritten(t *testing.T) {
	t.Helper()
	later := l.NewSpace(t)
	later.Create(NewDeployment("web", 1))
	later.Complete("web")
	later.Edit("web", Image("web:2"))
	st := later.Complete("web")
	later.UntilEvents("Deployment", "deployment-controller Normal ScalingReplicaSet: Scaled down replica set "+WebReplicaSet+" from 1 to 0")
	later.UntilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulDelete: Deleted pod: "+st.firstPod(WebReplicaSet))
}

// firstPod is the name of the first Pod that was seen of a ReplicaSet.
func (st *Story) firstPod(replicaSet string) string {
	for _, sighting := range st.Pods.Seen {
		if owners := sighting.Object.OwnerReferences; len(owners) > 0 && owners[0].Name == replicaSet {
			return sighting.Object.Name
		}
	}
	return ""
}

// WantNoWrites fails if the controllers under test have written anything in the namespace.
func (s *Space) WantNoWrites(since localcluster.AuditMark) {
	s.T.Helper()
	for _, write := range s.Writes(since) {
		s.T.Errorf("a write where there was nothing to do: %s", Describe(write))
	}
}

// UntilObserved waits until the Deployment web was looked at as it is now.
func (s *Space) UntilObserved() *Story {
	s.T.Helper()
	generation := s.Deployment("web").Generation
	return s.UntilDeployment("web", "to be looked at", func(d *appsv1.Deployment) string {
		if d.Status.ObservedGeneration < generation {
			return fmt.Sprintf("generation %d is observed, not %d", d.Status.ObservedGeneration, generation)
		}
		return ""
	})
}

// StatusWrites counts the writes that worked of the statuses of the Deployment web and its
// ReplicaSets, by resource.
func (s *Space) StatusWrites(since localcluster.AuditMark) map[string]int {
	s.T.Helper()
	written := map[string]int{}
	for _, write := range s.Writes(since) {
		if write.Subresource == "status" && strings.HasPrefix(write.Name, "web") && write.Code < 300 {
			written[write.Resource]++
		}
	}
	return written
}
