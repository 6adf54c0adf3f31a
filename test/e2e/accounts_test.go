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
)

// TestEachLoopWritesAsItsServiceAccount runs the program with the credentials of
// kube-controller-manager, as in a static pod of a kubeadm cluster.
func TestEachLoopWritesAsItsServiceAccount(t *testing.T) {
	s := newSpace(t)
	if s.notOurs("the built-in loops do so") {
		return
	}
	s.standAside()
	process, err := s.lab.launch(t.Context(), "as-accounts", localcluster.ControllerManager, "--use-service-account-credentials")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.processes = append(s.processes, process)
	s.create(newDeployment("web", 2))
	s.complete("web")
	s.edit("web", image("web:2"))
	s.complete("web")
	want := map[string]string{
		"deployments/status": builtinDeployments,
		"replicasets/":       builtinDeployments,
		"replicasets/status": builtinReplicaSets,
		"pods/":              builtinReplicaSets,
	}
	got := map[string]string{}
	s.poll("the audit log to show all writes", func(context.Context) string {
		clear(got)
		for _, write := range s.lab.requests(t, s.start, func(entry localcluster.AuditEntry) bool {
			return entry.IsWrite() && entry.Namespace == s.name && strings.HasPrefix(entry.UserAgent, "controller-manager/")
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
}
