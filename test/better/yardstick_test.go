package better

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file show faults of the built-in loops that ours have too as yet.

// also makes them run under ours too, to see how far those are.
var also = flag.Bool("ours", false, "run under ours too what shows a fault that ours have as yet")

// yardstick runs a script under the built-in loops, where the fault has to be seen.
func yardstick(t *testing.T, run script, flags ...string) {
	t.Helper()
	found := underBuiltin(t, run, flags)
	if !t.Failed() && !found.fault {
		t.Errorf("the built-in loops do not have the fault: %s", found)
	}
	fmt.Fprintf(os.Stdout, "%s\n  built-in: %s\n", t.Name(), found)
	if *also {
		fmt.Fprintf(os.Stdout, "  ours:     %s\n", underOurs(t, run, flags))
	}
}

// TestPodsThatFailAtOnce: kubernetes#72593, #131116. A node refuses all Pods that it is given.
func TestPodsThatFailAtOnce(t *testing.T) {
	yardstick(t, func(t *testing.T, l *lab.Lab) finding {
		// The first 10 may be replaced at once, and then there are two waits, of 10 and 20 seconds.
		const size, most, period = 10, 4 * 10, 30 * time.Second
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", size, lab.Mode(localcluster.ModeFail)))
		began := time.Now()
		s.Poll("the time to pass", func(context.Context) string {
			if left := period - time.Since(began); left > 0 {
				return left.String()
			}
			return ""
		})
		made := s.Recorder.Now().Pods.Born()
		s.Edit("web", lab.Replicas(0))
		return finding{
			fault:   made > most,
			cell:    "the failed Pods are replaced without a pause",
			counted: fmt.Sprintf("%d Pods made for %d wanted within %s", made, size, period),
		}
	})
}
