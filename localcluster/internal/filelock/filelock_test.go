package filelock

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(path); !errors.Is(err, ErrHeld) {
		t.Errorf("a second holder got %v, want %v", err, ErrHeld)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Try(path)
	if err != nil {
		t.Fatalf("the lock was not given back: %v", err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

func TestALockThatCannotBeMadeIsAnError(t *testing.T) {
	if _, err := Try(filepath.Join(t.TempDir(), "none", "lock")); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("error is %v, want one about the folder", err)
	}
}
