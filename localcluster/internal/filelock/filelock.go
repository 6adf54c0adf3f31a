package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrHeld says that another process holds the lock.
var ErrHeld = errors.New("another process holds it")

// Try takes the lock that a file stands for, without waiting. Closing the file
// gives it back. The error is ErrHeld when another process has the lock.
func Try(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the caller names it
	if err != nil {
		return nil, fmt.Errorf("opening the lock %s: %w", path, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(ErrHeld, file.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("taking the lock %s: %w", path, err), file.Close())
	default:
		return file, nil
	}
}
