package localcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// ownerVariable makes the test program start a cluster instead of testing, in the
// folder that it names.
const ownerVariable = "LOCALCLUSTER_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerVariable); dir != "" {
		os.Exit(ownCluster(dir))
	}
	os.Exit(m.Run())
}

// ownCluster starts the smallest cluster, freezes a part of it, prints the process
// numbers on one line, and waits to be killed.
func ownCluster(dir string) int {
	cluster, err := Start(context.Background(), Options{Dir: dir, Without: []string{Scheduler, ControllerManager, Kwok}})
	if err == nil {
		_, err = cluster.Launch(context.Background(), Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", untilKilled}})
	}
	if err == nil {
		err = cluster.Component(Etcd).Freeze()
	}
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	for _, process := range cluster.all() {
		fmt.Fprint(os.Stdout, process.PID(), " ")
	}
	fmt.Fprintln(os.Stdout)
	select {}
}

func TestNoProcessOutlivesItsOwner(t *testing.T) {
	if _, err := Build(t.Context(), t.Logf); err != nil {
		t.Fatal(err)
	}
	owner := exec.CommandContext(patient(t), os.Args[0])
	owner.Env = append(os.Environ(), ownerVariable+"="+t.TempDir())
	output, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the owner said %q: %v", line, err)
	}
	var pids []int
	for _, field := range strings.Fields(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("the owner said %q", line)
		}
		pids = append(pids, pid)
		t.Cleanup(func() {
			if runs(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // the test has failed; leave nothing behind
			}
		})
		if !runs(pid) {
			t.Errorf("process %d does not run", pid)
		}
	}
	if len(pids) != 3 {
		t.Fatalf("the owner started %d processes, want 3", len(pids))
	}

	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d to end", pid), func(context.Context) error {
			if runs(pid) {
				return errors.New("it runs")
			}
			return nil
		})
	}
	// It was killed, so it has nothing else to say.
	_ = owner.Wait()
}

func TestAFrozenProcessIsHeldByTheKernel(t *testing.T) {
	process := launch(t, prepared(t), untilKilled)
	wantFrozen := func(want bool) {
		t.Helper()
		eventually(t, fmt.Sprintf("frozen: %t", want), func(context.Context) error {
			if state := processState(process.PID()); (state == "T") != want {
				return fmt.Errorf("its state is %q", state)
			}
			return nil
		})
	}
	if err := process.Freeze(); err != nil {
		t.Fatal(err)
	}
	wantFrozen(true)
	if err := process.Thaw(); err != nil {
		t.Fatal(err)
	}
	wantFrozen(false)
}

// runs says whether a process exists and is no zombie: a dead process whose new
// parent has not noticed yet.
func runs(pid int) bool {
	state := processState(pid)
	return state != "" && state != "Z"
}

// processState is the state of a process as proc_pid_stat(5) has it; empty if
// there is none.
func processState(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// It stands behind the name, which is in parentheses.
	_, rest, _ := strings.Cut(string(stat), ") ")
	state, _, _ := strings.Cut(rest, " ")
	return state
}
