package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"controller-manager/localcluster"
	"controller-manager/localcluster/internal/filelock"
)

// downTimeout is longer than an orderly stop may take.
const downTimeout = 2 * time.Minute

// state is what "up" leaves for "down" and "status". It counts only while the
// owner holds the lock beside it: a process that got the number of a dead owner
// does not.
type state struct {
	// PID is the owner: ending it ends the cluster.
	PID int `json:"pid"`
	// URL is empty until the cluster is up.
	URL        string         `json:"url,omitempty"`
	Kubeconfig string         `json:"kubeconfig,omitempty"`
	Processes  map[string]int `json:"processes,omitempty"`
}

func stateOf(cluster *localcluster.Cluster) state {
	s := state{
		PID:        os.Getpid(),
		URL:        cluster.URL,
		Kubeconfig: cluster.KubeconfigPath(localcluster.AdminUser),
		Processes:  map[string]int{},
	}
	for _, name := range localcluster.ComponentNames() {
		s.Processes[name] = cluster.Component(name).PID()
	}
	return s
}

func statePath(dir string) string { return filepath.Join(dir, "cluster.json") }
func lockPath(dir string) string  { return filepath.Join(dir, "cluster.lock") }

func writeState(dir string, s state) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the cluster's state: %w", err)
	}
	// Under another name first, so that a reader never finds half of it.
	partial := statePath(dir) + ".partial"
	if err := os.WriteFile(partial, text, 0o600); err != nil {
		return fmt.Errorf("writing the cluster's state: %w", err)
	}
	if err := os.Rename(partial, statePath(dir)); err != nil {
		return fmt.Errorf("putting the cluster's state in its place: %w", err)
	}
	return nil
}

// errNotUp says that no cluster is up in a folder.
var errNotUp = errors.New("no cluster is up")

// readState returns the state of a cluster that is up or starting, or errNotUp.
func readState(dir string) (state, error) {
	if _, err := os.Stat(lockPath(dir)); errors.Is(err, os.ErrNotExist) {
		return state{}, fmt.Errorf("%w in %s", errNotUp, dir)
	}
	lock, err := filelock.Try(lockPath(dir))
	if err == nil {
		return state{}, errors.Join(fmt.Errorf("%w in %s", errNotUp, dir), lock.Close())
	}
	if !errors.Is(err, filelock.ErrHeld) {
		return state{}, err
	}
	text, err := os.ReadFile(statePath(dir))
	if err != nil {
		return state{}, fmt.Errorf("reading the cluster's state: %w", err)
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return state{}, fmt.Errorf("reading the cluster's state in %s: %w", statePath(dir), err)
	}
	if s.PID <= 0 { // a signal to it would reach a whole group of processes
		return state{}, fmt.Errorf("reading the cluster's state in %s: it names no process", statePath(dir))
	}
	return s, nil
}

// down asks the owner to end and waits until it has. No cluster is no error.
func down(ctx context.Context, dir string, log func(string, ...any)) error {
	s, err := readState(dir)
	if errors.Is(err, errNotUp) {
		log("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := syscall.Kill(s.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("asking process %d to end the cluster: %w", s.PID, err)
	}
	ended := func(context.Context) (bool, error) {
		_, err := readState(dir)
		if errors.Is(err, errNotUp) {
			return true, nil
		}
		return false, err
	}
	if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, downTimeout, true, ended); err != nil {
		return fmt.Errorf("waiting for process %d to end the cluster in %s: %w", s.PID, dir, err)
	}
	log("the cluster in %s is down", dir)
	return nil
}

func status(ctx context.Context, dir string, log func(string, ...any)) error {
	s, err := readState(dir)
	if err != nil {
		return err
	}
	if s.URL == "" {
		return fmt.Errorf("the cluster in %s is starting (process %d)", dir, s.PID)
	}
	answer, err := readiness(ctx, s.Kubeconfig)
	if err != nil {
		return fmt.Errorf("the cluster in %s (process %d) does not answer; its logs are in %s: %w", dir, s.PID, filepath.Join(dir, "logs"), err)
	}
	log("up in %s, process %d\nAPI server  %s, %s\nkubeconfig  %s\nlogs        %s",
		dir, s.PID, s.URL, answer, s.Kubeconfig, filepath.Join(dir, "logs"))
	for _, name := range localcluster.ComponentNames() {
		log("%-24s process %d", name, s.Processes[name])
	}
	return nil
}
