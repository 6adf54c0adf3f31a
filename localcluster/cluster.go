package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Cluster is a control plane that runs on this machine.
type Cluster struct {
	// Dir is the folder of all its files.
	Dir string
	// URL is the address of the API server.
	URL string
	// AuditLog has a line for every request that the API server answered.
	AuditLog AuditLog

	layout    layout
	ports     ports
	binaries  Binaries
	admin     *rest.Config
	authority *authority // of the API server and its clients
	etcdCA    *authority // of etcd and its only client, the API server
	launcher  *launcher
	died      chan error

	mu        sync.Mutex // guards the fields below
	processes []*Process // in the order of their start, which Stop reverses
	ended     bool
	temporary bool // Dir is removed in the end
}

// Component is a component of the cluster, or a process that was launched, by
// its name; nil if there is none.
func (c *Cluster) Component(name string) *Process {
	for _, process := range c.all() {
		if process.Name == name {
			return process
		}
	}
	return nil
}

// Died delivers an error, a DeathError, when a process ends that nobody stopped
// or killed through its Process. Of several deaths one may stand for all.
func (c *Cluster) Died() <-chan error {
	return c.died
}

// Launch starts a program beside the cluster and waits until it is ready, it
// dies, or ctx ends. Stop stops it first. Its name must be new to the cluster.
func (c *Cluster) Launch(ctx context.Context, command Command) (*Process, error) {
	process, err := c.add(command)
	if err != nil {
		return nil, err
	}
	if err := process.waitReady(ctx); err != nil {
		return nil, errors.Join(err, process.Kill())
	}
	return process, nil
}

// Kubectl runs kubectl as admin and returns what it prints. The error holds what
// it prints to standard error.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.binaries[Kubectl], args...) //nolint:gosec // the caller is the user
	cmd.Env = []string{"KUBECONFIG=" + c.KubeconfigPath(AdminUser), "HOME=" + c.layout.home(), "PATH=" + os.Getenv("PATH")}
	var output, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &problems
	if err := cmd.Run(); err != nil {
		return output.String(), fmt.Errorf("running kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(problems.String()))
	}
	return output.String(), nil
}

// KubectlPath is the kubectl that fits the cluster.
func (c *Cluster) KubectlPath() string {
	return c.binaries[Kubectl]
}

// Stop ends all processes in order, what was launched first and etcd last, and
// removes Dir if it was temporary; not if a process has died, so that its log can
// be read. The error names those that had to be killed. A second call does
// nothing.
func (c *Cluster) Stop() error {
	processes := c.all()
	var errs []error
	for _, process := range processes {
		// None can end while one that it waits for is frozen.
		errs = append(errs, process.Thaw())
	}
	for _, process := range slices.Backward(processes) {
		stop := process.Stop
		if process.Name == APIServer {
			stop = c.stopAPIServer
		}
		errs = append(errs, stop())
	}
	return errors.Join(append(errs, c.clear())...)
}

// watchersGrace is how long the API server may take to stop. All that it keeps is in etcd.
const watchersGrace = 2 * time.Second

// stopAPIServer stops the API server, which would wait for a minute for an etcd that is gone,
// and as long for a client that watches (kubectl get --watch, in another terminal).
func (c *Cluster) stopAPIServer() error {
	server := c.Component(APIServer)
	if !c.Component(Etcd).Alive() {
		return server.Kill()
	}
	patience := time.AfterFunc(watchersGrace, func() { _ = server.Kill() }) // Stop says what came of it
	defer patience.Stop()
	return server.Stop()
}

// Kill ends all processes at once, without their consent, and removes Dir as Stop
// does. It cuts a Stop short that is under way.
func (c *Cluster) Kill() error {
	var errs []error
	for _, process := range slices.Backward(c.all()) {
		errs = append(errs, process.Kill())
	}
	return errors.Join(append(errs, c.clear())...)
}

// clear gives back what the cluster holds when its processes have ended.
func (c *Cluster) clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	c.ended = true
	c.launcher.close()
	if !c.temporary {
		return nil
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("removing the cluster's folder: %w", err)
	}
	return nil
}

// noteDeath keeps the folder with the log, and tells who listens.
func (c *Cluster) noteDeath(death *DeathError) {
	c.setTemporary(false)
	select {
	case c.died <- death:
	default: // an earlier death waits to be read already, and one is enough
	}
}

func (c *Cluster) setTemporary(temporary bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.temporary = temporary
}

// add starts a process and does not wait for it.
func (c *Cluster) add(command Command) (*Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.processes, func(p *Process) bool { return p.Name == command.Name }) {
		return nil, fmt.Errorf("starting %s: a process of this name has been started before; restart it, or choose another name", command.Name)
	}
	if command.Name == "" || command.Name != filepath.Base(command.Name) {
		return nil, fmt.Errorf("starting %q: the name must be good for a file name", command.Name)
	}
	process := &Process{
		Name:     command.Name,
		URL:      command.URL,
		LogPath:  c.layout.log(command.Name),
		command:  command,
		home:     c.layout.home(),
		launcher: c.launcher,
		died:     c.noteDeath,
	}
	if err := process.start(); err != nil {
		return nil, err
	}
	c.processes = append(c.processes, process)
	return process, nil
}

// all is a copy of the list of processes.
func (c *Cluster) all() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.processes)
}
