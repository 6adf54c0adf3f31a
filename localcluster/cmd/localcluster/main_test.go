package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"controller-manager/localcluster"
)

// commandVariable makes the test program be the command instead of testing it.
const commandVariable = "LOCALCLUSTER_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) != "" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// invocation is a command that runs.
type invocation struct {
	cmd    *exec.Cmd
	output *bufio.Reader
	seen   strings.Builder
	temp   string // takes its temporary folders
}

// invoke starts the command with standard output and standard error in one.
func invoke(t *testing.T, args ...string) *invocation {
	t.Helper()
	// Long, because a busy machine is no failure.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	i := &invocation{cmd: exec.CommandContext(ctx, os.Args[0], args...), temp: t.TempDir()}
	i.cmd.Env = append(os.Environ(), commandVariable+"=yes", "TMPDIR="+i.temp)
	reader, writer := io.Pipe()
	i.cmd.Stdout, i.cmd.Stderr = writer, writer
	i.output = bufio.NewReader(reader)
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.cmd.Process.Kill() }) // no harm when it has ended
	go func() {
		writer.CloseWithError(errors.Join(i.cmd.Wait(), io.EOF))
	}()
	return i
}

// readUntil reads the output up to a line that contains want.
func (i *invocation) readUntil(t *testing.T, want string) {
	t.Helper()
	for {
		line, err := i.output.ReadString('\n')
		i.seen.WriteString(line)
		if strings.Contains(line, want) {
			return
		}
		if err != nil {
			t.Fatalf("it never said %q but\n%s\nand ended: %v", want, i.seen.String(), err)
		}
	}
}

// end reads the rest of the output and returns all of it, and the exit code.
func (i *invocation) end(t *testing.T) (string, int) {
	t.Helper()
	rest, err := io.ReadAll(i.output)
	i.seen.Write(rest)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return i.seen.String(), exit.ExitCode()
	case errors.Is(err, io.EOF), err == nil:
		return i.seen.String(), 0
	default:
		t.Fatal(err)
		return "", 0
	}
}

// wantNothingLeft looks for temporary folders.
func (i *invocation) wantNothingLeft(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(i.temp, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
}

// newProject is a project whose controller-manager is a shell script and may do
// everything.
func newProject(t *testing.T, script string) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"deploy/rbac", "bin"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: test}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: controller-manager}]
`
	err := errors.Join(
		// A copy, because kubectl follows no link to a folder.
		os.CopyFS(filepath.Join(root, "deploy/samples"), os.DirFS("../../../deploy/samples")),
		os.WriteFile(filepath.Join(root, "deploy/rbac/binding.yaml"), []byte(binding), 0o600),
		os.WriteFile(filepath.Join(root, "bin/controller-manager"), []byte("#!/bin/sh\n"+script), 0o700),
	)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestRun has the built-in loops in the place of ours, since this module does not
// build the controller-manager.
func TestRunShowsTheSamplesAndLeavesNothingBehind(t *testing.T) {
	binaries, err := localcluster.Build(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	root := newProject(t, fmt.Sprintf(
		`exec %s --controllers=deployment-controller,replicaset-controller --bind-address=127.0.0.1 "$@"`,
		binaries[localcluster.ControllerManager]))
	i := invoke(t, "run", "--root", root)
	i.readUntil(t, "Ctrl-C stops everything")
	if err := i.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	output, code := i.end(t)
	if code != 0 {
		t.Errorf("exit code is %d, want 0", code)
	}
	for _, want := range []string{
		"from 0 to 3",               // the Deployment's event
		"Created pod: web-",         // the ReplicaSet's
		"Successfully assigned",     // the Pod's
		"Status:           Running", // the Pod
		"2/2     Running",           // the Pod with two containers
		"bin/kubectl scale",         // what to try
		"stopped",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("it did not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(output)
	}
	if _, err := os.Stat(filepath.Join(root, "bin/kubectl")); err != nil {
		t.Errorf("kubectl is not where it says: %v", err)
	}
	i.wantNothingLeft(t)
}

func TestRunSaysWhyTheControllerManagerEnded(t *testing.T) {
	i := invoke(t, "run", "--root", newProject(t, "echo the flag is unknown; exit 2"))
	output, code := i.end(t)
	if code != 1 {
		t.Errorf("exit code is %d, want 1", code)
	}
	for _, want := range []string{"controller-manager ended by itself (exit status 2)", "the flag is unknown"} {
		if !strings.Contains(output, want) {
			t.Errorf("it did not say %q but\n%s", want, output)
		}
	}
}

func TestRunStopsWhereverItIs(t *testing.T) {
	i := invoke(t, "run", "--root", newProject(t, "exit 1"))
	i.readUntil(t, "started etcd")
	if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if output, code := i.end(t); code != 0 {
		t.Errorf("exit code is %d, want 0; it said\n%s", code, output)
	}
	i.wantNothingLeft(t)
}

func TestUpStatusDown(t *testing.T) {
	dir := "--dir=" + filepath.Join(t.TempDir(), "cluster")
	once := func(verb string, wantCode int, wantOutput string) {
		t.Helper()
		output, code := invoke(t, verb, dir).end(t)
		if code != wantCode || !strings.Contains(output, wantOutput) {
			t.Errorf("%s: exit code %d, want %d; it said %q, want %q", verb, code, wantCode, output, wantOutput)
		}
	}
	once("status", 1, "no cluster is up")
	once("down", 0, "no cluster is up")

	up := invoke(t, "up", dir)
	up.readUntil(t, "started etcd")
	once("status", 1, "is starting")
	up.readUntil(t, "Ctrl-C stops")
	once("status", 0, fmt.Sprintf("process %d", up.cmd.Process.Pid))
	once("up", 1, "a cluster is up")
	once("down", 0, "is down")
	if output, code := up.end(t); code != 0 {
		t.Errorf("up: exit code %d, want 0; it said\n%s", code, output)
	}
	once("status", 1, "no cluster is up")
}
