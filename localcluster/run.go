package localcluster

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// run is one life of a process, from its start to its end.
type run struct {
	cmd *exec.Cmd
	// logStart is the size of the log file when the run began, in bytes.
	logStart int64
	done     chan struct{} // closed at the end
	asked    chan struct{} // closed when we ask it to end
	askOnce  sync.Once
}

func newRun(cmd *exec.Cmd, logStart int64) *run {
	return &run{cmd: cmd, logStart: logStart, done: make(chan struct{}), asked: make(chan struct{})}
}

// wait returns at the end of the run. It is called exactly once.
func (r *run) wait() {
	// The error says nothing that cmd.ProcessState does not say too.
	_ = r.cmd.Wait()
	close(r.done)
}

func (r *run) alive() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

func (r *run) markAsked() {
	r.askOnce.Do(func() { close(r.asked) })
}

func (r *run) wasAsked() bool {
	select {
	case <-r.asked:
		return true
	default:
		return false
	}
}

// signal is no error when the run has ended already.
func (r *run) signal(signal syscall.Signal) error {
	if err := r.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// launcher starts processes from one operating system thread. On Linux a child
// is told to die with the *thread* that started it, not with the process, and
// the Go runtime may end any thread but one that a goroutine is locked to.
type launcher struct {
	jobs   chan func()
	closed chan struct{}
}

func newLauncher() *launcher {
	l := &launcher{jobs: make(chan func()), closed: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		for {
			select {
			case job := <-l.jobs:
				job()
			case <-l.closed:
				return
			}
		}
	}()
	return l
}

func (l *launcher) start(cmd *exec.Cmd) error {
	result := make(chan error)
	select {
	case l.jobs <- func() { result <- cmd.Start() }:
		return <-result
	case <-l.closed:
		return errors.New("the cluster has been stopped")
	}
}

// close ends the thread, and with it, on Linux, all children that still run.
func (l *launcher) close() {
	close(l.closed)
}
