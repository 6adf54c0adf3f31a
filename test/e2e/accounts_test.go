package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// TestEachLoopWritesAsItsServiceAccount runs the program with the credentials of
// kube-controller-manager, as in a static pod of a kubeadm cluster. With those it only reads.
func TestEachLoopWritesAsItsServiceAccount(t *testing.T) {
	s := newSpace(t)
	if s.NotOurs("the built-in loops do so") {
		return
	}
	s.StandAside()
	process, err := s.Lab.Launch(t.Context(), "as-accounts", localcluster.ControllerManager, "--use-service-account-credentials")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.Processes = append(s.Processes, process)
	s.Create(lab.NewDeployment("web", 2))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
	want := map[string]string{
		"deployments/status": lab.BuiltinDeployments,
		"replicasets/":       lab.BuiltinDeployments,
		"replicasets/status": lab.BuiltinReplicaSets,
		"pods/":              lab.BuiltinReplicaSets,
	}
	got := map[string]string{}
	s.Poll("the audit log to show all writes", func(context.Context) string {
		clear(got)
		for _, write := range s.Lab.Requests(t, s.Start, func(entry localcluster.AuditEntry) bool {
			return entry.IsWrite() && entry.Namespace == s.Name && strings.HasPrefix(entry.UserAgent, "controller-manager/")
		}) {
			what := write.Resource + "/" + write.Subresource
			if who := got[what]; who != "" && who != write.User {
				t.Fatalf("%s were written by %s and by %s", what, who, write.User)
			}
			got[what] = write.User
		}
		if len(got) < len(want) {
			return fmt.Sprint("only ", slices.Sorted(maps.Keys(got)), " were written")
		}
		return ""
	})
	delete(got, "events/")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who wrote what (-want +got):\n%s", diff)
	}

	// A watch is in the audit log when it has ended.
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	watchers := map[string]string{}
	s.Poll("the audit log to show all watches", func(context.Context) string {
		for _, watch := range s.Lab.Requests(t, s.Start, func(entry localcluster.AuditEntry) bool {
			return entry.Verb == "watch" && entry.Namespace == "" && strings.HasPrefix(entry.UserAgent, "controller-manager/") &&
				entry.User != localcluster.OurUser // that of the process that stands aside
		}) {
			watchers[watch.Resource] = watch.User
		}
		if len(watchers) < 3 {
			return fmt.Sprint("only ", slices.Sorted(maps.Keys(watchers)), " were watched")
		}
		return ""
	})
	for resource, who := range watchers {
		if who != localcluster.BuiltinUser {
			t.Errorf("%s were watched by %s, want %s", resource, who, localcluster.BuiltinUser)
		}
	}
}
