package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster/internal/filelock"
)

func TestTheChainIsToldWhenEachPartHasSpoken(t *testing.T) {
	event := func(reason, object string) corev1.Event {
		return corev1.Event{Reason: reason, InvolvedObject: corev1.ObjectReference{Name: object}}
	}
	scaled, assigned := event("ScalingReplicaSet", "web"), event("Scheduled", "web-1-a")
	created := event("SuccessfulCreate", "web-1")
	tests := map[string]struct {
		events []corev1.Event
		want   bool
	}{
		"all have spoken":                     {[]corev1.Event{scaled, created, created, created, assigned}, true},
		"nobody has":                          {nil, false},
		"the Deployment has not":              {[]corev1.Event{created, created, created, assigned}, false},
		"one pod is not told of":              {[]corev1.Event{scaled, created, created, assigned}, false},
		"the pod was not assigned":            {[]corev1.Event{scaled, created, created, created}, false},
		"another pod was assigned":            {[]corev1.Event{scaled, created, created, created, event("Scheduled", "web-1-b")}, false},
		"another Deployment's pods count not": {[]corev1.Event{scaled, created, created, event("SuccessfulCreate", "notebook-1"), assigned}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := chainIsTold(test.events, "web-1-a"); got != test.want {
				t.Errorf("told: %t, want %t", got, test.want)
			}
		})
	}
}

func TestAProjectWithoutItsPartsIsRefusedAtOnce(t *testing.T) {
	root := newProject(t, "")
	whole := project{root: root, binary: filepath.Join(root, "bin/controller-manager"), bin: filepath.Join(root, "bin")}
	tests := map[string]struct {
		project project
		want    string // empty: it is fine
	}{
		"all is there":            {whole, ""},
		"there is no binary":      {project{root: root, binary: filepath.Join(root, "none")}, "make build"},
		"this is not the project": {project{root: t.TempDir(), binary: whole.binary}, "--root"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.project.check()
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestKubectlIsLinkedAgain(t *testing.T) {
	p := project{bin: filepath.Join(t.TempDir(), "bin")}
	for _, target := range []string{"/old", "/new"} {
		if err := p.linkKubectl(target); err != nil {
			t.Fatal(err)
		}
		got, err := os.Readlink(p.kubectl())
		if err != nil {
			t.Fatal(err)
		}
		if got != target {
			t.Errorf("kubectl is %s, want %s", got, target)
		}
	}
}

func TestFollowShowsWhatIsAddedToALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*followPeriod)
		defer cancel()
		var out strings.Builder
		time.AfterFunc(followPeriod/2, func() {
			log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer log.Close()
			if _, err := log.WriteString("second\n"); err != nil {
				t.Error(err)
			}
		})
		if err := follow(ctx, path, &out); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "first\nsecond\n"; got != want {
			t.Errorf("it showed %q, want %q", got, want)
		}
	})
}

func TestAStateCountsOnlyWhileItsOwnerLives(t *testing.T) {
	dir := t.TempDir()
	// As a killed owner leaves it. The number is this process's, so that a signal
	// to it would be noticed.
	if err := writeState(dir, state{PID: os.Getpid(), URL: "https://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lockPath(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	err := down(t.Context(), dir, func(format string, _ ...any) { said = append(said, format) })
	if err != nil || len(said) != 1 {
		t.Errorf("it said %q, error %v; want one line and no error", said, err)
	}
}

func TestAStateWithoutAProcessIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := writeState(dir, state{}); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Try(lockPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if s, err := readState(dir); err == nil {
		t.Errorf("it was read as %+v", s)
	}
}
