package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
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
	defer func() { err = errors.Join(err, l.cluster.Stop()) }()
	code = m.Run()
	return code, l.checkEnd()
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

// checkEnd stops the process under test and reports what no test may leave behind.
func (l *lab) checkEnd() error {
	if !l.ours {
		return nil
	}
	if err := l.process.Stop(); err != nil {
		return fmt.Errorf("stopping the process under test at the end: %w", err)
	}
	log, err := os.ReadFile(l.process.LogPath)
	if err != nil {
		return fmt.Errorf("reading the log of the process under test: %w", err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "panic") {
			return fmt.Errorf("the process under test has panicked: %s", strings.TrimSpace(line))
		}
	}
	if code := l.process.ExitCode(); code != 0 {
		return fmt.Errorf("the process under test ended with exit code %d after SIGTERM, want 0", code)
	}
	return nil
}
