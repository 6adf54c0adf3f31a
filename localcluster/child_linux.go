package localcluster

import "syscall"

// childAttributes puts a child into a process group of its own, so that a Ctrl-C
// in the terminal reaches only its owner, which then stops it in order; and it
// has the kernel kill the child when its owner dies in any other way.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
