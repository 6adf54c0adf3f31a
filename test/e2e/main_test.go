package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"controller-manager/test/e2e/lab"
)

// theLab is started by TestMain and shared by all tests.
var theLab = lab.Share(startLab)

// parallel is how many tests run at once. They mostly wait, so it may be more than
// there are processors.
const parallel = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := runInParallel(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	theLab.Main(m, (*lab.Lab).CheckEnd)
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
