package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"controller-manager/localcluster"
)

const (
	// program is the program under test, and rbac what its user may do.
	program = "../../bin/controller-manager"
	rbac    = "../../deploy/rbac"

	// patience bounds every wait. It is long, so that a busy machine fails no test.
	patience = 120 * time.Second
)

// The users that write for kube-controller-manager's two loops.
const (
	builtinDeployments = "system:serviceaccount:kube-system:deployment-controller"
	builtinReplicaSets = "system:serviceaccount:kube-system:replicaset-controller"
)

// lab is what all tests share: a cluster, and the controllers under test on it.
type lab struct {
	cluster *localcluster.Cluster
	client  kubernetes.Interface
	// ours says that our program is under test, and not the built-in loops.
	ours bool
	// process runs the controllers under test.
	process *localcluster.Process
	// user is whom its kubeconfig names.
	user string
	// writers are the users as whom the controllers under test write.
	writers []string
}

func startLab() (*lab, error) {
	controllers := os.Getenv("E2E_CONTROLLERS")
	switch controllers {
	case "", "ours", "builtin":
	default:
		return nil, fmt.Errorf("E2E_CONTROLLERS is %q; it may be ours (as without it) or builtin", controllers)
	}
	l := &lab{ours: controllers != "builtin"}
	if _, err := os.Stat(program); l.ours && err != nil {
		return nil, fmt.Errorf("there is no program to test: run make build first: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	options := localcluster.Options{Log: logLine, BuiltinLoops: !l.ours, ExtraArgs: map[string][]string{
		// Its own limits would make a comparison take minutes longer; ours has none.
		localcluster.ControllerManager: {"--kube-api-qps=1000", "--kube-api-burst=1000"},
	}}
	if l.cluster, err = localcluster.Start(ctx, options); err != nil {
		return nil, err
	}
	if err := l.startControllers(ctx); err != nil {
		return nil, errors.Join(err, l.cluster.Stop())
	}
	return l, nil
}

// manager is the name under which the controllers under test own fields: the first word
// of their user agent.
func (l *lab) manager() string {
	if l.ours {
		return "controller-manager"
	}
	return localcluster.ControllerManager
}

func logLine(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// startControllers makes the client and starts what is under test.
func (l *lab) startControllers(ctx context.Context) error {
	config := l.cluster.AdminConfig()
	config.WarningHandler = rest.NoWarnings{} // the oddest templates are what some tests want
	var err error
	if l.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if !l.ours {
		l.process, l.user = l.cluster.Component(localcluster.ControllerManager), localcluster.BuiltinUser
		l.writers = []string{builtinDeployments, builtinReplicaSets}
		return nil
	}
	l.user, l.writers = localcluster.OurUser, []string{localcluster.OurUser}
	if _, err := l.cluster.Kubectl(ctx, "apply", "--recursive", "-f", rbac); err != nil {
		return fmt.Errorf("granting the permissions of the program under test: %w", err)
	}
	l.process, err = l.launch(ctx, "controller-manager", localcluster.OurUser)
	return err
}

// launch starts an instance of our program as a user and waits until it is ready.
// The flags are added to those that every instance gets. The lease is short, so that a
// test which kills the leader need not wait long for the next.
func (l *lab) launch(ctx context.Context, name, user string, flags ...string) (*localcluster.Process, error) {
	path, err := filepath.Abs(program)
	if err != nil {
		return nil, fmt.Errorf("finding the program under test: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	url := "https://" + localAddress(port)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.cluster.Launch(ctx, localcluster.Command{
		Name: name,
		Path: path,
		URL:  url,
		Args: append([]string{
			"--kubeconfig=" + l.cluster.KubeconfigPath(user),
			fmt.Sprintf("--secure-port=%d", port),
			"--leader-elect=true",
			"--leader-elect-lease-duration=5s",
			"--leader-elect-renew-deadline=4s",
			"--leader-elect-retry-period=1s",
			"-v=4",
		}, flags...),
		Ready: func(ctx context.Context) error { return askReady(ctx, url) },
	})
}

// getLab returns the lab, which TestMain has started.
func getLab(t *testing.T) *lab {
	t.Helper()
	l, err := theLab()
	if err != nil {
		t.Fatal(err)
	}
	return l
}
