package localcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds waits for what must happen. It is long because a busy machine
// is no failure.
const patience = 2 * time.Minute

// launch runs a shell script beside a cluster without components. The script
// must print "ready".
func launch(t *testing.T, c *Cluster, script string) *Process {
	t.Helper()
	command := Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"GIVEN=yes"}}
	command.Ready = func(context.Context) error {
		if !strings.Contains(readEnd(c.layout.log("script"), 0), "ready") {
			return errors.New("not ready yet")
		}
		return nil
	}
	process, err := c.Launch(patient(t), command)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// untilKilled is a script that runs until a signal ends it.
const untilKilled = "echo ready; while :; do sleep 0.05; done"

// untilTold is the beginning of a script that goes on after tell.
const untilTold = "echo ready; while [ ! -e $HOME/told ]; do sleep 0.05; done; "

func tell(t *testing.T, c *Cluster) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.layout.home(), "told"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStopAsksAndWaits(t *testing.T) {
	c := prepared(t)
	process := launch(t, c, "trap 'echo bye; exit 7' TERM; "+untilKilled)
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	if process.Alive() {
		t.Error("it still runs")
	}
	if got := process.ExitCode(); got != 7 {
		t.Errorf("exit code is %d, want 7", got)
	}
	if log := readEnd(process.LogPath, 0); !strings.Contains(log, "bye") {
		t.Errorf("it was not asked to end; its log is %q", log)
	}
	wantNoDeath(t, c)
}

func TestStopWakesAFrozenProcess(t *testing.T) {
	process := launch(t, prepared(t), "trap 'exit 7' TERM; "+untilKilled)
	if err := process.Freeze(); err != nil {
		t.Fatal(err)
	}
	if !process.Alive() {
		t.Error("a frozen process counts as dead")
	}
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := process.ExitCode(); got != 7 {
		t.Errorf("exit code is %d, want 7", got)
	}
}

func TestKillDoesNotAsk(t *testing.T) {
	c := prepared(t)
	process := launch(t, c, "trap '' TERM; "+untilKilled)
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	if process.Alive() {
		t.Error("it still runs")
	}
	wantNoDeath(t, c)
}

func TestRestartRunsTheSameAgain(t *testing.T) {
	process := launch(t, prepared(t), untilKilled)
	before := process.PID()
	if err := process.Restart(patient(t)); err != nil {
		t.Fatal(err)
	}
	if !process.Alive() || process.PID() == before {
		t.Errorf("alive: %t, process %d, before %d", process.Alive(), process.PID(), before)
	}
	if got := strings.Count(readEnd(process.LogPath, 0), "ready"); got < 1 {
		t.Error("the log of the first run is gone")
	}
}

func TestACommandIsACopyToMakeAnotherOf(t *testing.T) {
	process := launch(t, prepared(t), untilKilled)
	command := process.Command()
	command.Args[0] = "changed"
	if again := process.Command(); again.Name != process.Name || again.Args[0] == "changed" {
		t.Errorf("the command is %+v", again)
	}
}

func TestAnEndThatWasExpectedIsNoDeath(t *testing.T) {
	c := prepared(t)
	process := launch(t, c, untilTold+"exit 3")
	process.MayEnd()
	tell(t, c)
	<-process.Done()
	if got := process.ExitCode(); got != 3 {
		t.Errorf("exit code is %d, want 3", got)
	}
	wantNoDeath(t, c)
}

func TestADeathIsToldWithItsReason(t *testing.T) {
	c := prepared(t)
	process := launch(t, c, untilTold+"for i in 1 2 3 4 5; do echo line $i; done; exit 3")
	tell(t, c)
	err := <-c.Died()
	var death *DeathError
	if !errors.As(err, &death) {
		t.Fatalf("got %v, want a DeathError", err)
	}
	if got := death.State.ExitCode(); got != 3 {
		t.Errorf("exit code is %d, want 3", got)
	}
	want := "script ended by itself (exit status 3); the end of its log " + process.LogPath +
		":\n  line 1\n  line 2\n  line 3\n  line 4\n  line 5"
	if err.Error() != want {
		t.Errorf("error is\n%s\nwant\n%s", err, want)
	}
}

func TestTheEndOfAProgramThatEndsIsNoDeath(t *testing.T) {
	c := prepared(t)
	run := func(name string, ends bool) *Process {
		process, err := c.Launch(patient(t), Command{Name: name, Path: "/bin/sh", Args: []string{"-c", "exit 3"}, Ends: ends})
		if err != nil {
			t.Fatal(err)
		}
		<-process.Done()
		return process
	}
	if got := run("job", true).ExitCode(); got != 3 {
		t.Errorf("exit code is %d, want 3", got)
	}
	run("server", false)
	var death *DeathError
	if err := <-c.Died(); !errors.As(err, &death) || death.Name != "server" {
		t.Errorf("the first death is %v, want that of the server", err)
	}
}

func TestLaunchReportsAProgramThatDoesNotStart(t *testing.T) {
	c := prepared(t)
	_, err := c.Launch(patient(t), Command{
		Name:  "script",
		Path:  "/bin/sh",
		Args:  []string{"-c", "echo the port is bad; exit 1"},
		Ready: func(context.Context) error { return errors.New("never") },
	})
	var death *DeathError
	if !errors.As(err, &death) || !strings.Contains(err.Error(), "the port is bad") {
		t.Errorf("error is %v, want a DeathError with the last line of the log", err)
	}
}

func TestLaunchRefusesWhatCannotBeToldApart(t *testing.T) {
	c := prepared(t)
	launch(t, c, untilKilled)
	for _, name := range []string{"script", "", "a/b"} {
		if _, err := c.Launch(patient(t), Command{Name: name, Path: "/bin/true"}); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
}

func TestAProcessGetsNoVariablesOfItsOwner(t *testing.T) {
	t.Setenv("ETCD_NAME", "of the owner")
	c := prepared(t)
	process := launch(t, c, "env; "+untilKilled)
	log := readEnd(process.LogPath, 0)
	if strings.Contains(log, "ETCD_NAME") {
		t.Error("it got a variable of its owner")
	}
	for _, want := range []string{"GIVEN=yes", "HOME=" + c.layout.home(), "PATH=" + os.Getenv("PATH")} {
		if !strings.Contains(log, want) {
			t.Errorf("it did not get %s", want)
		}
	}
}

func TestNothingStartsAfterStop(t *testing.T) {
	c := prepared(t)
	process := launch(t, c, untilKilled)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if process.Alive() {
		t.Error("the cluster was stopped, but a process of it runs")
	}
	if err := process.Restart(patient(t)); err == nil {
		t.Error("a process of a stopped cluster was started again")
	}
	if _, err := c.Launch(patient(t), Command{Name: "other", Path: "/bin/true"}); err == nil {
		t.Error("a process was launched beside a stopped cluster")
	}
}

func TestTemporaryFolders(t *testing.T) {
	tests := map[string]struct {
		script string
		end    func(*Cluster) error
		kept   bool
	}{
		"Stop removes the folder":                  {untilKilled, (*Cluster).Stop, false},
		"Kill removes the folder":                  {untilKilled, (*Cluster).Kill, false},
		"the folder with the log of a death stays": {untilTold + "exit 1", (*Cluster).Stop, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			c, err := prepare(Options{}, Binaries{})
			if err != nil {
				t.Fatal(err)
			}
			process := launch(t, c, test.script)
			if test.kept {
				tell(t, c)
				<-c.Died()
				<-process.Done()
			}
			if err := test.end(c); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(c.Dir); os.IsNotExist(err) == test.kept {
				t.Errorf("the folder was kept: %t, want %t", !os.IsNotExist(err), test.kept)
			}
		})
	}
}

func wantNoDeath(t *testing.T, c *Cluster) {
	t.Helper()
	select {
	case err := <-c.Died():
		t.Errorf("what we asked for was reported as a death: %v", err)
	default:
	}
}
