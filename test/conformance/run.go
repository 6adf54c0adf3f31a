package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2/types"
	"golang.org/x/sync/errgroup"

	"controller-manager/localcluster"
)

// patience bounds one spec. Each has bounds of its own, of up to five minutes for a wait.
const patience = 20 * time.Minute

// Options say what to run. All paths are needed.
type Options struct {
	// Program is the controller-manager, and RBAC the folder of its permissions.
	Program, RBAC string
	// Specs is the program with the specs.
	Specs string
	// Folder takes the report.
	Folder string
	// Builtin runs the specs under the built-in loops; Program and RBAC are not used.
	Builtin bool
	// Log receives a line for each step. nil: no lines.
	Log func(format string, args ...any)
}

// Run starts a cluster, runs the specs on it, writes the report and ends the cluster.
// Without an error, all specs passed that can.
func Run(ctx context.Context, options Options) (err error) {
	if options.Log == nil {
		options.Log = func(string, ...any) {}
	}
	if err := os.MkdirAll(options.Folder, 0o750); err != nil {
		return fmt.Errorf("making the folder for the report: %w", err)
	}
	scratch, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return fmt.Errorf("making a folder for the reports of the specs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	tests := suite{path: options.Specs}
	names, err := tests.list(ctx, scratch)
	if err != nil {
		return err
	}
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Log:          options.Log,
		BuiltinLoops: options.Builtin,
		// Some specs ask Pods for answers, through the API server. It refuses to talk to
		// addresses of the loopback network; others it would look for outside.
		ExtraArgs: map[string][]string{localcluster.Kwok: {"--cidr=127.128.0.0/9"}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	r := runner{options: options, cluster: cluster, tests: tests, scratch: scratch}
	report, err := r.run(ctx, names)
	if err := errors.Join(err, r.keepLog()); err != nil {
		return err
	}
	return conclude(report, options)
}

// runner runs specs on a cluster.
type runner struct {
	options Options
	cluster *localcluster.Cluster
	tests   suite
	scratch string // takes the reports of the specs
}

// run starts the controllers and runs the specs, all at once. When ctx ends or anything
// of the cluster dies, it ends them.
func (r runner) run(ctx context.Context, names []string) (types.Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case death := <-r.cluster.Died():
			cancel(death)
		case <-ctx.Done():
		}
	}()
	if err := r.startControllers(ctx); err != nil {
		return types.Report{}, err
	}
	began := time.Now()
	reports := make([]types.Report, len(names))
	var specs errgroup.Group
	for i, name := range names {
		specs.Go(func() error {
			var err error
			reports[i], err = r.runSpec(ctx, i, name)
			return err
		})
	}
	if err := specs.Wait(); err != nil {
		return types.Report{}, err
	}
	whole := types.Report{SuiteDescription: r.options.controllers(), SuiteSucceeded: true, StartTime: began}
	for _, report := range reports {
		whole = whole.Add(report)
	}
	whole.RunTime = time.Since(began)
	return whole, nil
}

// startControllers starts our program as a user who may do what its manifests grant.
func (r runner) startControllers(ctx context.Context) error {
	if r.options.Builtin {
		return nil // they are part of the cluster
	}
	if _, err := r.cluster.Kubectl(ctx, "apply", "--filename", r.options.RBAC); err != nil {
		return err
	}
	path, err := filepath.Abs(r.options.Program)
	if err != nil {
		return fmt.Errorf("finding the controller-manager: %w", err)
	}
	_, err = r.cluster.Launch(ctx, localcluster.Command{
		Name: localcluster.OurUser,
		Path: path,
		Args: []string{"--kubeconfig=" + r.cluster.KubeconfigPath(localcluster.OurUser), "--secure-port=0"},
	})
	return err
}

// runSpec runs one spec to its end and returns its report, also when it failed.
func (r runner) runSpec(ctx context.Context, number int, name string) (types.Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the spec %q took longer than %s", name, patience))
	defer cancel()
	path, err := filepath.Abs(r.tests.path)
	if err != nil {
		return types.Report{}, fmt.Errorf("finding the program with the specs: %w", err)
	}
	report := filepath.Join(r.scratch, fmt.Sprintf("spec-%d.json", number))
	process, err := r.cluster.Launch(ctx, localcluster.Command{
		Name: fmt.Sprintf("spec-%d", number),
		Path: path,
		Args: r.tests.runArgs(name, r.cluster.KubeconfigPath(localcluster.AdminUser), report),
		Ends: true,
	})
	if err != nil {
		return types.Report{}, err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		return types.Report{}, errors.Join(context.Cause(ctx), process.Kill())
	}
	got, err := readReport(report)
	if err != nil || len(got.SpecReports) != 1 {
		said, _ := os.ReadFile(process.LogPath) // it adds to an error, and is no other
		return types.Report{}, errors.Join(fmt.Errorf("the spec %q ended with exit code %d and without a report of its own: %s", name, process.ExitCode(), said), err)
	}
	spec := got.SpecReports[0]
	r.options.Log("%s after %.0f s: %s", spec.State, spec.RunTime.Seconds(), name)
	return got, nil
}

// keepLog puts the log of the controllers, if they were started, beside the report.
func (r runner) keepLog() error {
	process := r.cluster.Component(localcluster.OurUser)
	if r.options.Builtin {
		process = r.cluster.Component(localcluster.ControllerManager)
	}
	if process == nil {
		return nil
	}
	text, err := os.ReadFile(process.LogPath)
	if err != nil {
		return fmt.Errorf("reading the log of the controllers: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.options.Folder, "controllers.log"), text, 0o600); err != nil { //nolint:gosec // the folder is the caller's
		return fmt.Errorf("keeping the log of the controllers: %w", err)
	}
	return nil
}
