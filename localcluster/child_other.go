//go:build !linux

package localcluster

import "syscall"

// childAttributes puts a child into a process group of its own, so that a Ctrl-C
// in the terminal reaches only its owner, which then stops it in order. Only
// Linux can have a child killed when its owner dies in another way.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
