package better

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// TestALeaderThatStandsStillAndWakes: a leader is frozen, as a virtual machine is that is paused,
// while it makes Pods. Another one takes over and finishes; then the first one wakes.
func TestALeaderThatStandsStillAndWakes(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const size, begun = 200, 50
		flags := []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=1s",
			"--kube-api-qps=20", "--kube-api-burst=30"} // the defaults of the built-in loops
		s := l.NewSpace(t)
		s.StandAside()
		s.ForgetLease()
		leader := launch(s, "leader", flags...)
		first := s.UntilHeld("")
		launch(s, "standby", flags...)
		s.Create(lab.NewDeployment("web", size))
		s.Until("some of the Pods", func(st *lab.Story) string {
			if got := len(st.Pods.Now); got < begun {
				return fmt.Sprintf("there are %d", got)
			}
			return ""
		})
		freeze(t, leader.Process)
		s.UntilHeld(first)
		s.Complete("web")
		since := s.Lab.Mark(t)
		if err := leader.Process.Thaw(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-leader.Process.Done():
		case <-time.After(lab.Patience):
			t.Fatal("the instance that has lost its lease goes on")
		}
		late := s.Lab.Requests(t, since, func(entry localcluster.AuditEntry) bool {
			return entry.IsWrite() && entry.User == leader.User && entry.Namespace == s.Name && entry.Code < 300
		})
		surplus := s.Recorder.Now().Pods.Born() - size
		cell := "it writes nothing more"
		if len(late) > 0 {
			cell = "it goes on writing, beside the new leader"
		}
		return finding{
			fault: len(late) > 0, cell: cell,
			counted: fmt.Sprintf("%d writes took effect, and %d Pods were made too many", len(late), surplus),
		}
	})
}

func freeze(t *testing.T, process *localcluster.Process) {
	t.Helper()
	if err := process.Freeze(); err != nil {
		t.Fatal(err)
	}
	process.MayEnd()
}

// TestALeaderThatEnds: kubernetes#132599. A leader is stopped with SIGTERM, as in an upgrade.
func TestALeaderThatEnds(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		// The defaults of both.
		flags := []string{"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s", "--leader-elect-retry-period=2s"}
		s := l.NewSpace(t)
		s.StandAside()
		s.ForgetLease()
		leader := launch(s, "leader", flags...)
		first := s.UntilHeld("")
		standby := launch(s, "standby", flags...)
		if err := leader.Process.Stop(); err != nil {
			t.Fatal(err)
		}
		ended := time.Now()
		kept := s.Holder() == first
		s.Create(lab.NewDeployment("web", 1))
		s.UntilNewest("web", 1)
		waited := time.Since(ended)
		s.Poll("the audit log to show that the one that stood by has written", func(context.Context) string {
			writes := s.Writes(s.Start)
			if !slices.ContainsFunc(writes, func(w localcluster.AuditEntry) bool { return w.User == standby.User }) {
				return fmt.Sprintf("it shows %d writes", len(writes))
			}
			return ""
		})
		cell := "the lease is given back"
		if kept {
			cell = "the lease stays with the one that has gone, until it runs out"
		}
		return finding{fault: kept, cell: cell, counted: fmt.Sprintf("a Deployment waited for %.1f s", waited.Seconds())}
	})
}

// launch starts another instance of what is under test, as a user of its own.
func launch(s *lab.Space, name string, flags ...string) lab.Instance {
	s.T.Helper()
	if s.Lab.Ours {
		return s.Launch(name, flags...)
	}
	name += "-" + utilrand.String(5)
	kubeconfig, err := s.Lab.Cluster.Kubeconfig(name)
	if err != nil {
		s.T.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	if _, err := s.Client.RbacV1().ClusterRoleBindings().Create(s.T.Context(), binding, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("granting %s its permissions: %v", name, err)
	}
	s.T.Cleanup(func() {
		if err := s.Client.RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(s.T.Context()), name, metav1.DeleteOptions{}); err != nil {
			s.T.Errorf("taking the permissions of %s back: %v", name, err)
		}
	})
	process := s.Lab.LaunchBuiltin(s.T, append(flags, "--kubeconfig="+kubeconfig, "--use-service-account-credentials=false",
		"--leader-elect=true", "--leader-elect-resource-name="+lab.LeaseName)...)
	s.Writers = append(s.Writers, name)
	s.Processes = append(s.Processes, process)
	return lab.Instance{Process: process, User: name}
}
