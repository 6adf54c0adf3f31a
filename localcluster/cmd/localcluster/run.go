package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"controller-manager/localcluster"
)

const (
	// rolloutTimeout is far longer than four fake pods need to become ready.
	rolloutTimeout = time.Minute
	// followPeriod is how often the log is looked at for new lines.
	followPeriod = 200 * time.Millisecond
)

// project says where the parts of the project are.
type project struct {
	root   string // holds deploy/
	binary string // the controller-manager
	bin    string // takes kubectl
}

func (p project) rbac() string    { return filepath.Join(p.root, "deploy", "rbac") }
func (p project) samples() string { return filepath.Join(p.root, "deploy", "samples") }
func (p project) kubectl() string { return filepath.Join(p.bin, localcluster.Kubectl) }

// check finds what is missing before minutes are spent on a build.
func (p project) check() error {
	if _, err := os.Stat(p.binary); err != nil {
		return fmt.Errorf("finding the controller-manager (run \"make build\", or name it with --binary): %w", err)
	}
	for _, folder := range []string{p.rbac(), p.samples()} {
		if _, err := os.Stat(folder); err != nil {
			return fmt.Errorf("finding the manifests (name the project's folder with --root): %w", err)
		}
	}
	return nil
}

// linkKubectl puts kubectl where the user finds it.
func (p project) linkKubectl(path string) error {
	if err := os.MkdirAll(p.bin, 0o750); err != nil {
		return fmt.Errorf("making the folder for kubectl: %w", err)
	}
	if err := os.Remove(p.kubectl()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing an older kubectl: %w", err)
	}
	if err := os.Symlink(path, p.kubectl()); err != nil {
		return fmt.Errorf("linking kubectl: %w", err)
	}
	return nil
}

// runDemo starts a cluster and the controller-manager, shows what that does with
// the samples, and stays until ctx ends or something dies.
func runDemo(cmd *cobra.Command, again <-chan struct{}, project project) error {
	log := printer(cmd)
	if err := project.check(); err != nil {
		return err
	}
	cluster, err := localcluster.Start(cmd.Context(), localcluster.Options{Log: log})
	if err != nil {
		return err
	}
	d := demo{cluster: cluster, project: project, out: cmd.OutOrStdout(), log: log}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	go func() {
		if err := stay(ctx, cluster); err != nil {
			cancel(err)
		}
	}()
	err = d.run(ctx)
	var death *localcluster.DeathError
	switch {
	case cmd.Context().Err() != nil:
		err = nil // the user ended it, and what that broke off is no failure
	case errors.As(context.Cause(ctx), &death):
		err = death
	}
	return errors.Join(err, stop(cluster, again, log))
}

// demo is the course of "run" once the cluster is up.
type demo struct {
	cluster *localcluster.Cluster
	project project
	out     io.Writer
	log     func(format string, args ...any)
}

func (d demo) run(ctx context.Context) error {
	if err := d.project.linkKubectl(d.cluster.KubectlPath()); err != nil {
		return err
	}
	if _, err := d.cluster.Kubectl(ctx, "apply", "--filename", d.project.rbac()); err != nil {
		return err
	}
	ours, err := d.launch(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := d.cluster.Kubectl(ctx, "apply", "--filename", d.project.samples()); err != nil {
		return err
	}
	_, err = d.cluster.Kubectl(ctx, "rollout", "status", "--filename", d.project.samples(), "--timeout="+rolloutTimeout.String())
	if err != nil {
		return fmt.Errorf("waiting for the samples; the log of the controller-manager, %s, should say why they are not ready: %w", ours.LogPath, err)
	}
	d.log("the samples are rolled out after %.1f s", time.Since(began).Seconds())
	if err := d.describe(ctx); err != nil {
		return err
	}
	d.suggest()
	return follow(ctx, ours.LogPath, d.out)
}

// launch starts the controller-manager as a user who may do only what the shipped
// RBAC manifests grant.
func (d demo) launch(ctx context.Context) (*localcluster.Process, error) {
	binary, err := filepath.Abs(d.project.binary)
	if err != nil {
		return nil, fmt.Errorf("finding the controller-manager: %w", err)
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return nil, err
	}
	process, err := d.cluster.Launch(ctx, localcluster.Command{
		Name: localcluster.OurUser,
		Path: binary,
		Args: []string{
			"--kubeconfig=" + d.cluster.KubeconfigPath(localcluster.OurUser),
			"--leader-elect=true",
			fmt.Sprintf("--secure-port=%d", port),
			"-v=2",
		},
		URL: fmt.Sprintf("https://127.0.0.1:%d", port),
	})
	if err != nil {
		return nil, err
	}
	d.log("started %s as the user %q", process.Name, localcluster.OurUser)
	return process, nil
}

// follow copies a log, and what is added to it, until ctx ends.
func follow(ctx context.Context, path string, out io.Writer) error {
	file, err := os.Open(path) //nolint:gosec // a log of ours
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	ticker := time.NewTicker(followPeriod)
	defer ticker.Stop()
	for {
		if _, err := io.Copy(out, file); err != nil {
			return fmt.Errorf("showing the log %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
