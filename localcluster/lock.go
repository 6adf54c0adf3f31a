package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the lock that a file stands for, and waits for it; busy is called
// once if it has to. Closing the file gives the lock back, and so does the end of
// the process, however it ends.
func lockFile(ctx context.Context, path string, busy func()) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock %s: %w", path, err)
	}
	told := false
	err = waitFor(ctx, "the lock "+path, func(context.Context) error {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) && !told {
			told = true
			busy()
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
