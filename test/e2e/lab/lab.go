package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"controller-manager/localcluster"
)

const (
	// Program is the program under test, and rbac what its user may do.
	Program = "../../bin/controller-manager"
	rbac    = "../../deploy/rbac"

	// Patience bounds every wait. It is long, so that a busy machine fails no test.
	Patience = 120 * time.Second
)

// The users that write for kube-controller-manager's two loops.
const (
	BuiltinDeployments = "system:serviceaccount:kube-system:deployment-controller"
	BuiltinReplicaSets = "system:serviceaccount:kube-system:replicaset-controller"
)

// Lab is a cluster, and the controllers under test on it.
type Lab struct {
	Cluster *localcluster.Cluster
	// Ours says that our program is under test, and not the built-in loops.
	Ours bool
	// Process runs the controllers under test.
	Process *localcluster.Process

	client  kubernetes.Interface
	user    string   // whom the kubeconfig of Process names
	writers []string // the users as whom the controllers under test write
}

// Start puts controllers to the test on a cluster: our program, which it starts, or the loops
// of the cluster's own kube-controller-manager.
func Start(ctx context.Context, cluster *localcluster.Cluster, ours bool) (*Lab, error) {
	l, err := Connect(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if !ours {
		return l.builtin(cluster.Component(localcluster.ControllerManager)), nil
	}
	process, err := l.Launch(ctx, "controller-manager", localcluster.OurUser)
	return l.ours(process), err
}

// Connect is a lab in which nothing is under test yet: see WithOurs and WithBuiltin.
func Connect(ctx context.Context, cluster *localcluster.Cluster) (*Lab, error) {
	config := cluster.AdminConfig()
	config.WarningHandler = rest.NoWarnings{} // the oddest templates are what some tests want
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if _, err := cluster.Kubectl(ctx, "apply", "--recursive", "-f", rbac); err != nil {
		return nil, fmt.Errorf("granting the permissions of the program under test: %w", err)
	}
	return &Lab{Cluster: cluster, client: client}, nil
}

// WithOurs is the lab with our program, until the end of the test. The flags are added to
// those that every instance gets.
func (l *Lab) WithOurs(t *testing.T, flags ...string) *Lab {
	t.Helper()
	process, err := l.Launch(t.Context(), "ours-"+utilrand.String(5), localcluster.OurUser, flags...)
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, process)
	return l.ours(process)
}

// WithBuiltin is the lab with the two built-in loops, until the end of the test. The flags
// are added to their own.
func (l *Lab) WithBuiltin(t *testing.T, flags ...string) *Lab {
	t.Helper()
	return l.builtin(l.LaunchBuiltin(t, flags...))
}

func (l *Lab) ours(process *localcluster.Process) *Lab {
	return &Lab{Cluster: l.Cluster, Ours: true, Process: process, client: l.client,
		user: localcluster.OurUser, writers: []string{localcluster.OurUser}}
}

func (l *Lab) builtin(process *localcluster.Process) *Lab {
	return &Lab{Cluster: l.Cluster, Process: process, client: l.client,
		user: localcluster.BuiltinUser, writers: []string{BuiltinDeployments, BuiltinReplicaSets}}
}

// Manager is the name under which the controllers under test own fields: the first word
// of their user agent.
func (l *Lab) Manager() string {
	if l.Ours {
		return "controller-manager"
	}
	return localcluster.ControllerManager
}

// Launch starts an instance of our program as a user and waits until it is ready.
// The flags are added to those that every instance gets. The lease is short, so that a
// test which kills the leader need not wait long for the next.
func (l *Lab) Launch(ctx context.Context, name, user string, flags ...string) (*localcluster.Process, error) {
	path, err := filepath.Abs(Program)
	if err != nil {
		return nil, fmt.Errorf("finding the program under test: %w", err)
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	url := "https://" + LocalAddress(port)
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return l.Cluster.Launch(ctx, localcluster.Command{
		Name: name,
		Path: path,
		URL:  url,
		Args: append([]string{
			"--kubeconfig=" + l.Cluster.KubeconfigPath(user),
			fmt.Sprintf("--secure-port=%d", port),
			"--leader-elect=true",
			"--leader-elect-lease-duration=5s",
			"--leader-elect-renew-deadline=4s",
			"--leader-elect-retry-period=1s",
			"-v=4",
		}, flags...),
		Ready: isReady(url),
	})
}

// CheckEnd stops the process under test and reports what no test may leave behind.
func (l *Lab) CheckEnd() error {
	if !l.Ours {
		return nil
	}
	if err := l.Process.Stop(); err != nil {
		return fmt.Errorf("stopping the process under test at the end: %w", err)
	}
	log, err := os.ReadFile(l.Process.LogPath)
	if err != nil {
		return fmt.Errorf("reading the log of the process under test: %w", err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "panic") {
			return fmt.Errorf("the process under test has panicked: %s", strings.TrimSpace(line))
		}
	}
	if code := l.Process.ExitCode(); code != 0 {
		return fmt.Errorf("the process under test ended with exit code %d after SIGTERM, want 0", code)
	}
	return nil
}
