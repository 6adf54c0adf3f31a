package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequiredVersion(t *testing.T) {
	tests := map[string]struct {
		goMod string
		want  string // empty: an error
	}{
		"in a block":                       {"module m\n\nrequire (\n\ta.b/other v0.1.0\n\ta.b/c v1.2.3\n)\n", "v1.2.3"},
		"on a line of its own":             {"module m\n\nrequire a.b/c v1.2.3 // indirect\n", "v1.2.3"},
		"a tool line does not count":       {"module m\n\ntool a.b/c\n\nrequire a.b/c v1.2.3\n", "v1.2.3"},
		"a module below it does not count": {"module m\n\nrequire a.b/c/d v1.2.3\n", ""},
		"a replacement is no requirement":  {"module m\n\nreplace a.b/c => ../c\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := requiredVersion([]byte(test.goMod), "a.b/c")
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q and error %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestKubernetesProgramsKnowTheirVersion(t *testing.T) {
	flags := strings.Fields(kubernetesLinkFlags("v1.37.2"))
	for _, want := range []string{
		"k8s.io/component-base/version.gitVersion=v1.37.2",
		"k8s.io/component-base/version.gitMajor=1",
		"k8s.io/component-base/version.gitMinor=37",
		"k8s.io/client-go/pkg/version.gitVersion=v1.37.2",
	} {
		if !slices.Contains(flags, want) {
			t.Errorf("flags %q do not have %s", flags, want)
		}
	}
}

// fakeGo puts a go command on PATH that answers "env" and, for "build", writes a
// line to the file it returns and makes the program, unless a program of that
// name is to fail.
func fakeGo(t *testing.T, failing string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = env ]; then echo go1.99; exit 0; fi
while [ "$1" != -o ]; do shift; done
echo "$(basename "$2")" >> %s
case "$2" in */%s.partial) echo "no such module" >&2; exit 1;; esac
echo built > "$2"
`, calls, failing)
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	// Where os.UserCacheDir looks, on Linux and macOS.
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return calls
}

func builds(t *testing.T, calls string) []string {
	t.Helper()
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(string(text), ".partial", ""))
}

func TestBuildMakesEachProgramOnce(t *testing.T) {
	calls := fakeGo(t, "none")
	var log strings.Builder
	var mu sync.Mutex
	logf := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&log, format+"\n", args...)
	}
	// Callers that come together, and one that comes later, share one build.
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := Build(patient(t), logf); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	binaries, err := Build(patient(t), logf)
	if err != nil {
		t.Fatal(err)
	}

	want := []string{Etcd, APIServer, ControllerManager, Scheduler, Kubectl, Kwok}
	if diff := cmp.Diff(want, builds(t, calls)); diff != "" {
		t.Errorf("builds differ (-want +got):\n%s", diff)
	}
	for _, name := range want {
		if _, err := os.Stat(binaries[name]); err != nil {
			t.Errorf("%s is not where Build says: %v", name, err)
		}
		if line := "built " + name + " v"; !strings.Contains(log.String(), line) {
			t.Errorf("no line says %q", line)
		}
	}
}

func TestBuildOnDemandMakesOneProgram(t *testing.T) {
	calls := fakeGo(t, "none")
	want := []string{Kubeadm, OldKubeadm, Kubelet, Containerd, ContainerdShim, Ctr}
	for _, name := range want {
		path, err := BuildOnDemand(patient(t), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, builds(t, calls)); diff != "" {
		t.Errorf("builds differ (-want +got):\n%s", diff)
	}
	if _, err := BuildOnDemand(patient(t), Kubectl, nil); err == nil || !strings.Contains(err.Error(), "no such program") {
		t.Errorf("error is %v, want one that says that there is no such program", err)
	}
}

func TestAFailedBuildLeavesNoProgram(t *testing.T) {
	calls := fakeGo(t, Scheduler)
	_, err := Build(patient(t), nil)
	if err == nil || !strings.Contains(err.Error(), "building kube-scheduler") || !strings.Contains(err.Error(), "no such module") {
		t.Fatalf("error is %v, want one that names the program and says what go said", err)
	}
	if _, err := Build(patient(t), nil); err == nil {
		t.Error("the second build took what the first had left")
	}
	want := []string{Etcd, APIServer, ControllerManager, Scheduler, Scheduler}
	if diff := cmp.Diff(want, builds(t, calls)); diff != "" {
		t.Errorf("builds differ (-want +got):\n%s", diff)
	}
}

func TestAChangeOfAnythingBuiltFromMakesAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	target := func(goMod, goSum, platform, flags string) string {
		t.Helper()
		for name, text := range map[string]string{"go.mod": goMod, "go.sum": goSum} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b := builder{folder: dir, module: toolModule{folder: "x", source: "a/b", linkFlags: func(string) string { return flags }}}
		if err := b.readModule("/cache", platform); err != nil {
			t.Fatal(err)
		}
		return b.target
	}
	const goMod = "require a/b v1.0.0\n"
	base := target(goMod, "sum", "go1", "-s")
	if again := target(goMod, "sum", "go1", "-s"); again != base {
		t.Errorf("the same gives %s and %s", base, again)
	}
	others := map[string]string{
		"go.mod":     target(goMod+"//\n", "sum", "go1", "-s"),
		"go.sum":     target(goMod, "other", "go1", "-s"),
		"Go version": target(goMod, "sum", "go2", "-s"),
		"link flags": target(goMod, "sum", "go1", "-w"),
	}
	for what, other := range others {
		if other == base {
			t.Errorf("another %s has the same folder", what)
		}
	}
}

func TestAnInterruptedBuildEndsWithItsCompilers(t *testing.T) {
	fakeGo(t, "none")
	started := filepath.Join(t.TempDir(), "compiler")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = env ] || sh -c 'echo $$ > %[1]s.partial; mv %[1]s.partial %[1]s; exec sleep 1000'\n", started)
	goPath, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goPath, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(patient(t))
	result := make(chan error, 1)
	go func() {
		_, err := Build(ctx, nil)
		result <- err
	}()
	eventually(t, "the compiler", func(context.Context) error {
		_, err := os.Stat(started)
		return err
	})
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	text, err := os.ReadFile(started)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // no harm when it has ended
	eventually(t, "the compiler to end", func(context.Context) error {
		if syscall.Kill(pid, 0) == nil {
			return errors.New("it runs")
		}
		return nil
	})
}

func TestAllOfTodaysKubernetesIsOfOneVersion(t *testing.T) {
	versions := map[string]string{}
	for _, folder := range []string{"kubernetes", "kubelet"} {
		goMod, err := os.ReadFile(filepath.Join("tools", folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if versions[folder], err = requiredVersion(goMod, "k8s.io/kubernetes"); err != nil {
			t.Fatal(err)
		}
	}
	if versions["kubelet"] != versions["kubernetes"] {
		t.Errorf("versions are %v: bring both modules to the same one", versions)
	}
}
