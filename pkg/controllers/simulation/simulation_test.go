package simulation

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	seedFlag = flag.Uint64("seed", 0, "the first seed that TestSimulation runs, or the one that TestReplay tells the story of")
	timeFlag = flag.Duration("time", 0, "how long TestSimulation runs seeds, on all processors; by default it runs a few")
	failFlag = flag.Int("failures", 1, "how many failing seeds TestSimulation looks for before it ends")
	fileFlag = flag.String("file", "", "the schedule that TestReplay tells the story of, in place of that of a seed")
)

// seedsOfAUnitTest is how many seeds are run where no time is given: for a first impression.
const seedsOfAUnitTest = 300

// TestSimulation runs the schedules of many seeds, and shows the shrunk story of the first one
// that violates a property, or of the first few.
func TestSimulation(t *testing.T) {
	// Most of what a schedule leaves behind is garbage as soon as it has ended.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	begun := time.Now()
	var started atomic.Int64
	more := func() bool { return time.Since(begun) < *timeFlag }
	if *timeFlag == 0 {
		more = func() bool { return started.Add(1) <= seedsOfAUnitTest }
	}
	total, failures := Explore(*seedFlag, runtime.GOMAXPROCS(0), *failFlag, more)
	t.Log(summary(total, time.Since(begun)))
	for _, failure := range failures {
		t.Errorf("seed %d: %v\n%s", failure.Seed, failure.Violation, explained(Generate(failure.Seed), failure.Property))
		t.Logf("the whole story: go test ./pkg/controllers/simulation -run TestReplay -v -seed=%d", failure.Seed)
	}
}

// summary tells what was done, in how much time.
func summary(total Tally, took time.Duration) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d schedules, %d events in %.0f s: %.0f schedules and %.0f events a second; %d syncs, %d writes",
		total.Schedules, total.Events, took.Seconds(), float64(total.Schedules)/took.Seconds(), float64(total.Events)/took.Seconds(), total.Syncs, total.Writes)
	fmt.Fprint(&text, "\nfaults:")
	for f := noFault + 1; f < numberOfFaults; f++ {
		fmt.Fprintf(&text, " %d × %s,", total.Faults[f], f)
	}
	fmt.Fprint(&text, "\noperations:")
	for op := range numberOfOperations {
		fmt.Fprintf(&text, " %d × %s,", total.Done[op], op)
	}
	return text.String()
}

// explained returns the story of a failing schedule once everything is taken away that does not
// matter, and the schedule itself, to be kept.
func explained(schedule []Action, property string) string {
	shrunk := Shrink(schedule, property)
	return fmt.Sprintf("%d of %d actions suffice:\n%s\nas a file for testdata/found:\n%s", len(shrunk), len(schedule), Tell(shrunk).Text(), Format(shrunk))
}

// TestReplay tells the story of one seed, or of one schedule in a file.
func TestReplay(t *testing.T) {
	schedule := Generate(*seedFlag)
	if *fileFlag != "" {
		schedule = read(t, *fileFlag)
	}
	result := Tell(schedule)
	t.Log("\n" + result.Text())
	if result.Violation != nil {
		t.Error(result.Violation)
	}
}

// TestFound runs the schedules in testdata/found: each once violated a property.
func TestFound(t *testing.T) {
	tests := map[string]string{ // what was wrong
		"a ReplicaSet shrinks while others grow": `In mid-rollout a new size left one Pod to give. The only working ReplicaSet lost a Pod nevertheless, and the
			broken one got two.`,
		"a ReplicaSet whose creation was not answered is not counted": `The creation of a ReplicaSet was carried out and not answered, then the template changed: the next ReplicaSet
			was made as if the first did not exist, and more Pods were asked for than maxSurge allows.`,
		"a conflict for no reason is waited for without end": `A delete was answered 409 although the Pod had not changed, as a webhook may do. The ReplicaSet loop waited for
			the change to appear, without end, and made and deleted nothing any more.`,
		"a revision is reported that is not there yet": `After a rollback the new revision could not be written to the ReplicaSet, and the Deployment's own revision
			went back to that of long ago.`,
		"an old Pod that leaves its ReplicaSet is waited for without end": `Recreate waited for the last old Pod, and its labels were changed.
			The ReplicaSet let go of it, and nobody told the Deployment loop.`,
		"new Pods are made while an old ReplicaSet may still make some": `A template was changed and changed again. Recreate had taken back the size of the
			ReplicaSet in between, and took it for stopped before the ReplicaSet loop, which was just making its Pod, knew.`,
		"an unanswered delete is repeated although enough have gone": `A ReplicaSet was scaled down, and of its deletes one was not answered. When it was
			scaled up again that one was repeated, since the cache still showed the Pods whose deletes had been answered.`,
	}
	files, err := filepath.Glob("testdata/found/*.schedule")
	if err != nil || len(files) != len(tests) {
		t.Errorf("%d schedules in testdata/found, and %d have a name here, %v", len(files), len(tests), err)
	}
	for name, wrong := range tests {
		t.Run(name, func(t *testing.T) {
			file := "testdata/found/" + strings.ReplaceAll(name, " ", "-") + ".schedule"
			if result := Tell(read(t, file)); result.Violation != nil {
				t.Errorf("%v\nWhen this was found: %s\n%s", result.Violation, wrong, result.Text())
			}
		})
	}
}

func read(t *testing.T, file string) []Action {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return schedule
}

// TestASeedIsAlwaysTheSame holds the simulation itself to its promise.
func TestASeedIsAlwaysTheSame(t *testing.T) {
	for seed := range uint64(20) {
		if a, b := Tell(Generate(seed)).Text(), Tell(Generate(seed)).Text(); a != b {
			t.Errorf("the story of seed %d is not the same when told again", seed)
		}
	}
}

func TestASchedulesFileIsTheSameSchedule(t *testing.T) {
	schedule := Generate(7)
	again, err := Parse(Format(schedule))
	if diff := cmp.Diff(schedule, again); diff != "" || err != nil {
		t.Errorf("error %v; schedule (-written +read):\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"an unknown operation": "dance 1 2", "a missing number": "sync 1", "an unknown wish": "user 1 2 dance", "an unknown fault": "fault 1 2",
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s is read without an error", name)
		}
	}
}
