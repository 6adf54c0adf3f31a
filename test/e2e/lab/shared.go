package lab

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is the one lab of a package: its TestMain calls Main, its tests call Get.
type Shared func() (*Lab, error)

// Share returns the lab that start starts.
func Share(start func() (*Lab, error)) Shared { return sync.OnceValues(start) }

// Get returns the lab.
func (s Shared) Get(t *testing.T) *Lab {
	t.Helper()
	l, err := s()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Main starts the lab, runs the tests, stops the lab and ends the process. What ended returns
// of how the lab took it makes the run fail.
func (s Shared) Main(m *testing.M, ended func(*Lab) error) {
	code, err := s.run(m, ended)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func (s Shared) run(m *testing.M, ended func(*Lab) error) (code int, err error) {
	l, err := s()
	if err != nil {
		return 0, fmt.Errorf("starting the cluster: %w", err)
	}
	defer func() { err = errors.Join(err, l.Cluster.Stop()) }()
	return m.Run(), ended(l)
}
