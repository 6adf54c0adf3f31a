package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"controller-manager/localcluster"
	"controller-manager/localcluster/internal/filelock"
)

// up starts a cluster in a folder of its own, says where it is, and stays.
func up(cmd *cobra.Command, again <-chan struct{}, options localcluster.Options) error {
	ctx, log := cmd.Context(), printer(cmd)
	options.Log = log
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return fmt.Errorf("making the cluster's folder: %w", err)
	}
	lock, err := filelock.Try(lockPath(options.Dir))
	if errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("a cluster is up in %s already; end it with \"down\", or choose another folder with --dir", options.Dir)
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the end of the process gives it back at the latest
	if err := writeState(options.Dir, state{PID: os.Getpid()}); err != nil {
		return err
	}
	cluster, err := localcluster.Start(ctx, options)
	if err != nil {
		return err
	}
	if err := writeState(options.Dir, stateOf(cluster)); err != nil {
		return errors.Join(err, cluster.Kill())
	}
	log("\n  export KUBECONFIG=%s\n\n%s is for that kubeconfig; the others are in %s.\nCtrl-C stops the cluster.",
		cluster.KubeconfigPath(localcluster.AdminUser), cluster.KubectlPath(), filepath.Dir(cluster.KubeconfigPath(localcluster.AdminUser)))
	return errors.Join(stay(ctx, cluster), stop(cluster, again, log))
}

// stay returns nil when ctx ends, and an error when a process dies.
func stay(ctx context.Context, cluster *localcluster.Cluster) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-cluster.Died():
		return err
	}
}

// stop ends the cluster in order, or at once when the user asks again.
func stop(cluster *localcluster.Cluster, again <-chan struct{}, log func(string, ...any)) error {
	log("stopping (Ctrl-C again: at once)")
	stopped := make(chan struct{})
	defer close(stopped)
	go func() {
		select {
		case <-again:
			if err := cluster.Kill(); err != nil {
				log("%v", err)
			}
		case <-stopped:
		}
	}()
	if err := cluster.Stop(); err != nil {
		return err
	}
	log("stopped")
	return nil
}
