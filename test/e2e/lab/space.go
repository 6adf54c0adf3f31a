package lab

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"controller-manager/localcluster"
)

// Space is a namespace of a test's own, with a recorder of all that happens in it. Its
// methods end the test when something goes wrong.
type Space struct {
	T        *testing.T
	owner    *testing.T // the test that the space lives as long as
	Lab      *Lab
	Client   kubernetes.Interface
	Name     string
	Recorder *Recorder
	Start    localcluster.AuditMark // the audit log's end when the test began
	Writers  []string               // the users as whom the controllers under test write
	// Processes run the controllers under test.
	Processes []*localcluster.Process
}

// NewSpace makes a namespace, which is deleted after the test. If the test fails, what
// was seen in it is printed, and what the process under test has logged about it.
func (l *Lab) NewSpace(t *testing.T) *Space {
	t.Helper()
	return l.NewSpaceUntil(t, t)
}

// NewSpaceUntil makes a namespace that lives until the end of another test than that
// which uses it first: of the one that this is a part of.
func (l *Lab) NewSpaceUntil(t, owner *testing.T) *Space {
	t.Helper()
	ctx := owner.Context()
	namespace, err := l.client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	s := &Space{T: t, owner: owner, Lab: l, Client: l.client, Name: namespace.Name, Start: l.Mark(t), Writers: slices.Clone(l.writers), Processes: []*localcluster.Process{l.Process}}
	if s.Recorder, err = record(ctx, l.client, s.Name); err != nil {
		t.Fatal(err)
	}
	owner.Cleanup(s.end)
	s.untilUsable()
	return s
}

// untilUsable waits until Pods can be created in the namespace.
func (s *Space) untilUsable() {
	s.T.Helper()
	s.Poll("the default service account", func(ctx context.Context) string {
		if _, err := s.Client.CoreV1().ServiceAccounts(s.Name).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

// MakeAgain makes the namespace again, under its name, after it has gone.
func (s *Space) MakeAgain() {
	s.T.Helper()
	again := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}
	if _, err := s.Client.CoreV1().Namespaces().Create(s.T.Context(), again, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("creating the namespace again: %v", err)
	}
	s.untilUsable()
}

// NotOurs says whether the built-in loops are under test, and logs why a test has nothing
// (more) to compare with them: then it returns.
func (s *Space) NotOurs(why string) bool {
	s.T.Helper()
	if !s.Lab.Ours {
		s.T.Log("there is nothing to compare with the built-in loops: " + why)
	}
	return !s.Lab.Ours
}

// As is the space in the hands of another test.
func (s *Space) As(t *testing.T) *Space {
	handed := *s
	handed.T = t
	return &handed
}

func (s *Space) end() {
	if s.T.Failed() {
		s.owner.Logf("what was seen in the namespace %s:\n%s", s.Name, tell(s.Recorder.Now()))
		for _, process := range s.Processes {
			s.owner.Logf("the log of %s about it:\n%s", process.Name, s.log(process))
		}
	}
	background := metav1.DeletePropagationBackground
	err := s.Client.CoreV1().Namespaces().Delete(context.WithoutCancel(s.owner.Context()), s.Name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		s.owner.Errorf("deleting the namespace: %v", err)
	}
}

// log is the end of what a process has logged about the namespace.
func (s *Space) log(process *localcluster.Process) string {
	const most = 100
	text, err := os.ReadFile(process.LogPath)
	if err != nil {
		return err.Error()
	}
	lines := slices.Collect(strings.Lines(string(text)))
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, s.Name) })
	return strings.Join(lines[max(0, len(lines)-most):], "")
}

// Until waits for what is expected and returns what was seen by then. missing says
// what is not there yet, and nothing when all is.
func (s *Space) Until(what string, missing func(*Story) string) *Story {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), Patience)
	defer cancel()
	seen, err := s.Recorder.until(ctx, missing)
	if err != nil {
		s.T.Fatalf("waiting for %s: %v", what, err)
	}
	return seen
}

// Poll waits for something that cannot be watched.
func (s *Space) Poll(what string, missing func(context.Context) string) {
	s.T.Helper()
	left := ""
	err := wait.PollUntilContextTimeout(s.T.Context(), pollPeriod, Patience, true, func(ctx context.Context) (bool, error) {
		left = missing(ctx)
		return left == "", nil
	})
	if err != nil {
		s.T.Fatalf("waiting for %s: %v; last seen: %s", what, err, left)
	}
}

// Create creates a Deployment.
func (s *Space) Create(d *appsv1.Deployment) *appsv1.Deployment {
	s.T.Helper()
	created, err := s.Client.AppsV1().Deployments(s.Name).Create(s.T.Context(), d, metav1.CreateOptions{})
	if err != nil {
		s.T.Fatalf("creating Deployment %s: %v", d.Name, err)
	}
	return created
}

// Edit changes a Deployment as somebody does who reads it, changes it and writes it back.
func (s *Space) Edit(name string, edits ...Edit) *appsv1.Deployment {
	s.T.Helper()
	var edited *appsv1.Deployment
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d, err := s.Client.AppsV1().Deployments(s.Name).Get(s.T.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, change := range edits {
			change(d)
		}
		edited, err = s.Client.AppsV1().Deployments(s.Name).Update(s.T.Context(), d, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.T.Fatalf("editing Deployment %s: %v", name, err)
	}
	return edited
}

// Deployment reads a Deployment from the API server.
func (s *Space) Deployment(name string) *appsv1.Deployment {
	s.T.Helper()
	d, err := s.Client.AppsV1().Deployments(s.Name).Get(s.T.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.T.Fatalf("reading Deployment %s: %v", name, err)
	}
	return d
}

// PatchPod applies a merge patch to a Pod, or to a subresource of it.
func (s *Space) PatchPod(name, patch string, subresources ...string) *corev1.Pod {
	s.T.Helper()
	pod, err := s.Client.CoreV1().Pods(s.Name).Patch(s.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		s.T.Fatalf("patching Pod %s: %v", name, err)
	}
	return pod
}

// DeletePod deletes a Pod, if it is still there.
func (s *Space) DeletePod(name string) {
	s.T.Helper()
	if err := s.Client.CoreV1().Pods(s.Name).Delete(s.T.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		s.T.Fatalf("deleting Pod %s: %v", name, err)
	}
}

// Kubectl runs kubectl in the namespace and returns what it prints.
func (s *Space) Kubectl(args ...string) string {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), Patience)
	defer cancel()
	output, err := s.Lab.Cluster.Kubectl(ctx, append([]string{"--namespace=" + s.Name}, args...)...)
	if err != nil {
		s.T.Fatal(err)
	}
	return output
}
