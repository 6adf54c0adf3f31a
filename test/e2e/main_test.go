package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
)

// theLab is started by TestMain and shared by all tests.
var theLab = sync.OnceValues(startLab)

// parallel is how many tests run at once. They mostly wait, so it may be more than
// there are processors.
const parallel = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runAll starts the lab, runs the tests and looks at how the process under test took it.
func runAll(m *testing.M) (code int, err error) {
	if err := runInParallel(); err != nil {
		return 0, err
	}
	l, err := theLab()
	if err != nil {
		return 0, fmt.Errorf("starting the end-to-end tests: %w", err)
	}
	defer func() { err = errors.Join(err, l.Cluster.Stop()) }()
	code = m.Run()
	return code, l.CheckEnd()
}

// runInParallel sets the flag -parallel, unless whoever runs the tests has set it.
func runInParallel() error {
	const name = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return nil
	}
	if err := flag.Set(name, parallel); err != nil {
		return fmt.Errorf("setting the number of parallel tests: %w", err)
	}
	return nil
}
