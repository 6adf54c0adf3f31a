//go:build !linux

package node

import (
	"context"
	"errors"
	"syscall"
)

func newNamespaces() *syscall.SysProcAttr { return nil }

func furnish(context.Context, string) error {
	return errors.New("a node needs Linux")
}
