package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"controller-manager/localcluster"
)

// Options say what to prove, with paths from the working folder. All are needed.
type Options struct {
	// Deploy is the folder of the manifests.
	Deploy string
	// Images is a folder with the archives image.tar and pause.tar.
	Images string
	// Folder takes the report and the logs.
	Folder string
	// Log receives a line for each step.
	Log func(format string, args ...any)
}

// InsideCommand is the first argument of the program that Run starts; the second is the argument
// of Inside.
const InsideCommand = "inside"

// endGrace is how long what runs inside may take to end and to write its report.
const endGrace = time.Minute

// ErrSteps says that not all steps were passed. Those who read the log know more.
var ErrSteps = errors.New("not all steps were passed")

// Run builds what is missing, runs the calling program once more in namespaces of its own, and
// removes all that it leaves. Without an error, all steps were passed.
func Run(ctx context.Context, options Options) (err error) {
	if err := buildAll(ctx, options.Log); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "controller-manager-node-")
	if err != nil {
		return fmt.Errorf("making a folder for the node: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	groups, err := newGroups(fmt.Sprintf("controller-manager-node-%d", os.Getpid()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, groups.remove()) }()
	return runInside(ctx, groups, work)
}

// buildAll builds what cannot be built inside, where no module proxy can be reached.
func buildAll(ctx context.Context, log func(string, ...any)) error {
	if _, err := localcluster.Build(ctx, log); err != nil {
		return err
	}
	for _, name := range []string{localcluster.Kubelet, localcluster.Containerd, localcluster.ContainerdShim, localcluster.Ctr} {
		if _, err := localcluster.BuildOnDemand(ctx, name, log); err != nil {
			return err
		}
	}
	return nil
}

func runInside(ctx context.Context, groups groups, work string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, InsideCommand, work) //nolint:gosec // it is this program
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = newNamespaces()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endGrace
	// The kernel ends the child together with the thread that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := groups.start(cmd); err != nil {
		return err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return ErrSteps
	}
	if err != nil {
		return fmt.Errorf("running the node: %w", err)
	}
	return nil
}
