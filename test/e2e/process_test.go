package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

func TestABadStartEndsWithOneClearLine(t *testing.T) {
	t.Parallel()
	l := theLab.Get(t)
	if !l.Ours {
		t.Log("this is about our program: there is nothing to compare")
		return
	}
	folder := t.TempDir()
	kubeconfig := "--kubeconfig=" + l.Cluster.KubeconfigPath(localcluster.OurUser)
	stranger, err := l.Cluster.Kubeconfig("stranger-" + utilrand.String(5))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		code int
		want []string // parts of the line
	}{
		{"an unknown flag", []string{"--no-such-flag"}, 2, []string{"--no-such-flag"}},
		{"a word that is no flag", []string{"start"}, 2, []string{`"start"`}},
		{"a value that is no number", []string{"--concurrent-deployment-syncs=many"}, 2, []string{"concurrent-deployment-syncs", `"many"`}},
		{"a value out of range", []string{kubeconfig, "--concurrent-deployment-syncs=0"}, 2, []string{"--concurrent-deployment-syncs=0", "from 1 to"}},
		{"times that do not fit together", []string{kubeconfig, "--leader-elect-renew-deadline=1h"}, 2, []string{"leader-elect-renew-deadline", "lease duration"}},
		{"a kubeconfig that is not there", []string{"--kubeconfig=" + filepath.Join(folder, "absent")}, 1, []string{filepath.Join(folder, "absent"), "no such file"}},
		{"a kubeconfig that is none", []string{"--kubeconfig=" + writeFile(t, folder, "not a kubeconfig")}, 1, []string{"kubeconfig", folder}},
		{"a port that is taken", []string{kubeconfig, "--secure-port=" + portOf(t, l.Process.URL)}, 1, []string{"address already in use"}},
		{"a user without permissions", []string{"--kubeconfig=" + stranger, "--secure-port=0"}, 1, []string{"forbidden", "stranger-", "deploy/rbac"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, output := runProgram(t, test.args...)
			if code != test.code {
				t.Errorf("the exit code is %d, want %d", code, test.code)
			}
			lines := unloggedLines(output)
			if len(lines) != 1 {
				t.Fatalf("it said %d lines beside its log, want 1:\n%s", len(lines), output)
			}
			for _, part := range test.want {
				if !strings.Contains(lines[0], part) {
					t.Errorf("it said %q, which lacks %q", lines[0], part)
				}
			}
			wantNoStackTrace(t, output)
		})
	}
}

func TestTheProgramNamesItself(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.WantPodCreates(1)
	for _, write := range s.Writes(s.Start) {
		if !strings.HasPrefix(write.UserAgent, "controller-manager/") {
			t.Errorf("the user agent %q does not begin with controller-manager/: %s", write.UserAgent, lab.Describe(write))
		}
	}
}

// runProgram runs our program until it ends by itself.
func runProgram(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, lab.Program, args...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("running the program: %v", err)
	}
	if ctx.Err() != nil {
		t.Fatalf("it did not end by itself within %s:\n%s", lab.Patience, both.String())
	}
	return cmd.ProcessState.ExitCode(), both.String()
}

// unloggedLines are the lines without the header of a log line.
func unloggedLines(output string) []string {
	header := regexp.MustCompile(`^[IWEF]\d{4} `)
	var lines []string
	for line := range strings.Lines(output) {
		if !header.MatchString(line) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func wantNoStackTrace(t *testing.T, output string) {
	t.Helper()
	for _, trace := range []string{"goroutine ", "panic"} {
		if strings.Contains(output, trace) {
			t.Errorf("a stack trace:\n%s", output)
		}
	}
}

func writeFile(t *testing.T, folder, text string) string {
	t.Helper()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func portOf(t *testing.T, url string) string {
	t.Helper()
	colon := strings.LastIndexByte(url, ':')
	if colon < 0 {
		t.Fatalf("the address %q has no port", url)
	}
	return url[colon+1:]
}

func TestAnAPIServerThatIsNotThereIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	port, err := lab.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "https://" + lab.LocalAddress(port)
	process, err := s.Lab.Cluster.Launch(t.Context(), localcluster.Command{
		Name: "alone-" + utilrand.String(5),
		Path: absoluteProgram(t),
		Args: []string{"--kubeconfig=" + s.Lab.Cluster.KubeconfigPath(localcluster.OurUser), "--master=" + nowhere, "--secure-port=0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	output := ""
	s.Poll("a line that says what it waits for", func(context.Context) string {
		text, err := os.ReadFile(process.LogPath)
		if err != nil {
			return err.Error()
		}
		if output = string(text); !strings.Contains(output, nowhere) || !strings.Contains(output, "connection refused") {
			return "it said: " + output
		}
		return ""
	})
	wantNoStackTrace(t, output)
	if err := process.Stop(); err != nil {
		t.Error(err)
	}
	if code := process.ExitCode(); code != 0 {
		t.Errorf("after SIGTERM the exit code is %d, want 0; its log:\n%s", code, output)
	}
}

func absoluteProgram(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(lab.Program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
