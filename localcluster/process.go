package localcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end after SIGTERM.
const stopGrace = 20 * time.Second

// Command is a program to run beside the cluster.
type Command struct {
	// Name tells processes apart and names the log file.
	Name string
	// Path is the executable; Args are its arguments without its name.
	Path string
	Args []string
	// Env is added to PATH, HOME and TMPDIR, the only variables a process gets
	// from its owner. HOME is the cluster's folder.
	Env []string
	// URL is where the program serves, if it does. It is only kept in the Process.
	URL string
	// Ready reports nil once the program serves. nil: it counts as ready at once.
	Ready func(context.Context) error
	// Ends says that the program ends by itself, when it has done its work. Its end
	// is then no death, whatever the exit code.
	Ends bool
}

// Process is a program that runs beside the cluster, or one of its components.
// Its methods may be called from any goroutine.
type Process struct {
	// Name is the name given in the Command, for example "kube-apiserver".
	Name string
	// URL is where the program serves, for example https://127.0.0.1:20123.
	URL string
	// LogPath is the file that takes its standard output and standard error,
	// of all its runs.
	LogPath string

	command  Command
	home     string
	launcher *launcher
	died     func(*DeathError) // called when the process ends without having been asked to

	change sync.Mutex // held while the process is started or stopped
	latest atomic.Pointer[run]
}

// Command is what the process was started with; another one can be made of it.
func (p *Process) Command() Command {
	command := p.command
	command.Args = slices.Clone(command.Args)
	command.Env = slices.Clone(command.Env)
	return command
}

// PID is the process number of the latest run.
func (p *Process) PID() int {
	return p.latest.Load().cmd.Process.Pid
}

// Alive says whether the process runs. A frozen process is alive.
func (p *Process) Alive() bool {
	return p.latest.Load().alive()
}

// Done is closed when the latest run has ended.
func (p *Process) Done() <-chan struct{} {
	return p.latest.Load().done
}

// ExitCode is the exit code of the latest run: -1 while it goes on, or if a
// signal ended it.
func (p *Process) ExitCode() int {
	r := p.latest.Load()
	if r.alive() {
		return -1
	}
	return r.cmd.ProcessState.ExitCode()
}

// Stop sends SIGTERM and waits for the end; a frozen process is thawed. One that
// takes longer than 20 seconds is killed, and Stop returns an error that says
// so. Stopping a process that has ended does nothing.
func (p *Process) Stop() error {
	p.change.Lock()
	defer p.change.Unlock()
	return p.stop()
}

// Kill sends SIGKILL and waits for the end. It cuts a Stop short that is under
// way.
func (p *Process) Kill() error {
	r := p.latest.Load()
	r.markAsked()
	if err := r.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing %s: %w", p.Name, err)
	}
	<-r.done
	return nil
}

// MayEnd tells that the latest run is expected to end by itself: that is no death then,
// which would be told to Cluster.Died and keep the cluster's folder.
func (p *Process) MayEnd() {
	p.latest.Load().markAsked()
}

// Freeze stops the process where it is, with SIGSTOP, until Thaw.
func (p *Process) Freeze() error {
	if err := p.latest.Load().signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freezing %s: %w", p.Name, err)
	}
	return nil
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error {
	if err := p.latest.Load().signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("thawing %s: %w", p.Name, err)
	}
	return nil
}

// Restart stops the process if it runs, starts it again with the same arguments
// and waits until it is ready, it dies, or ctx ends.
func (p *Process) Restart(ctx context.Context) error {
	p.change.Lock()
	defer p.change.Unlock()
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	return p.waitReady(ctx)
}

// stop is Stop for a caller that holds the lock.
func (p *Process) stop() error {
	r := p.latest.Load()
	r.markAsked()
	// SIGCONT comes second, so that a frozen process wakes to find its SIGTERM.
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		if err := r.signal(signal); err != nil {
			return fmt.Errorf("stopping %s: %w", p.Name, err)
		}
	}
	select {
	case <-r.done:
		return nil
	case <-time.After(stopGrace):
	}
	if err := r.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing %s: %w", p.Name, err)
	}
	<-r.done
	return fmt.Errorf("%s did not stop within %s of SIGTERM and was killed; its log is %s", p.Name, stopGrace, p.LogPath)
}

// start begins a run. The caller holds the lock, or nobody else knows p yet.
func (p *Process) start() error {
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own
	info, err := log.Stat()
	if err != nil {
		return fmt.Errorf("reading the size of the log of %s: %w", p.Name, err)
	}
	cmd := exec.Command(p.command.Path, p.command.Args...) //nolint:gosec // to run what the caller names is its purpose
	// No more than this is handed down: a variable such as ETCD_NAME in the
	// owner's shell would change what a component does.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + p.home}, p.command.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	if err := p.launcher.start(cmd); err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	r := newRun(cmd, info.Size())
	p.latest.Store(r)
	go p.watch(r)
	return nil
}

// watch waits for the end of a run and reports one that nobody asked for.
func (p *Process) watch(r *run) {
	r.wait()
	if !r.wasAsked() && !p.command.Ends {
		p.died(p.death(r))
	}
}

// waitReady returns nil once the program serves, and an error when it dies
// before that or ctx ends.
func (p *Process) waitReady(ctx context.Context) error {
	if p.command.Ready == nil {
		return nil
	}
	r := p.latest.Load()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := waitFor(ctx, p.Name+" to be ready", p.command.Ready)
	switch {
	case !r.alive():
		return p.death(r)
	case err != nil:
		return fmt.Errorf("%w; its log is %s", err, p.LogPath)
	default:
		return nil
	}
}

// death describes how a run ended.
func (p *Process) death(r *run) *DeathError {
	return &DeathError{Name: p.Name, State: r.cmd.ProcessState, LogPath: p.LogPath, Log: readEnd(p.LogPath, r.logStart)}
}
