package e2e

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

// space is a namespace of a test's own, with a recorder of all that happens in it. Its
// methods end the test when something goes wrong.
type space struct {
	t        *testing.T
	owner    *testing.T // the test that the space lives as long as
	lab      *lab
	client   kubernetes.Interface
	name     string
	recorder *recorder
	start    localcluster.AuditMark // the audit log's end when the test began
	writers  []string               // the users as whom the controllers under test write
	// processes run the controllers under test.
	processes []*localcluster.Process
}

// newSpace makes a namespace, which is deleted after the test. If the test fails, what
// was seen in it is printed, and what the process under test has logged about it.
func newSpace(t *testing.T) *space {
	t.Helper()
	return newSpaceUntil(t, t)
}

// newSpaceUntil makes a namespace that lives until the end of another test than that
// which uses it first: of the one that this is a part of.
func newSpaceUntil(t, owner *testing.T) *space {
	t.Helper()
	l := getLab(t)
	ctx := owner.Context()
	namespace, err := l.client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	s := &space{t: t, owner: owner, lab: l, client: l.client, name: namespace.Name, start: l.mark(t), writers: slices.Clone(l.writers), processes: []*localcluster.Process{l.process}}
	if s.recorder, err = record(ctx, l.client, s.name); err != nil {
		t.Fatal(err)
	}
	owner.Cleanup(s.end)
	s.untilUsable()
	return s
}

// untilUsable waits until Pods can be created in the namespace.
func (s *space) untilUsable() {
	s.t.Helper()
	s.poll("the default service account", func(ctx context.Context) string {
		if _, err := s.client.CoreV1().ServiceAccounts(s.name).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

// makeAgain makes the namespace again, under its name, after it has gone.
func (s *space) makeAgain() {
	s.t.Helper()
	again := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	if _, err := s.client.CoreV1().Namespaces().Create(s.t.Context(), again, metav1.CreateOptions{}); err != nil {
		s.t.Fatalf("creating the namespace again: %v", err)
	}
	s.untilUsable()
}

// notOurs says whether the built-in loops are under test, and logs why a test has nothing
// (more) to compare with them: then it returns.
func (s *space) notOurs(why string) bool {
	s.t.Helper()
	if !s.lab.ours {
		s.t.Log("there is nothing to compare with the built-in loops: " + why)
	}
	return !s.lab.ours
}

// as is the space in the hands of another test.
func (s *space) as(t *testing.T) *space {
	handed := *s
	handed.t = t
	return &handed
}

func (s *space) end() {
	if s.t.Failed() {
		s.owner.Logf("what was seen in the namespace %s:\n%s", s.name, tell(s.recorder.now()))
		for _, process := range s.processes {
			s.owner.Logf("the log of %s about it:\n%s", process.Name, s.log(process))
		}
	}
	background := metav1.DeletePropagationBackground
	err := s.client.CoreV1().Namespaces().Delete(context.WithoutCancel(s.owner.Context()), s.name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		s.owner.Errorf("deleting the namespace: %v", err)
	}
}

// log is the end of what a process has logged about the namespace.
func (s *space) log(process *localcluster.Process) string {
	const most = 100
	text, err := os.ReadFile(process.LogPath)
	if err != nil {
		return err.Error()
	}
	lines := slices.Collect(strings.Lines(string(text)))
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, s.name) })
	return strings.Join(lines[max(0, len(lines)-most):], "")
}

// until waits for what is expected and returns what was seen by then. missing says
// what is not there yet, and nothing when all is.
func (s *space) until(what string, missing func(*story) string) *story {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	seen, err := s.recorder.until(ctx, missing)
	if err != nil {
		s.t.Fatalf("waiting for %s: %v", what, err)
	}
	return seen
}

// poll waits for something that cannot be watched.
func (s *space) poll(what string, missing func(context.Context) string) {
	s.t.Helper()
	left := ""
	err := wait.PollUntilContextTimeout(s.t.Context(), pollPeriod, patience, true, func(ctx context.Context) (bool, error) {
		left = missing(ctx)
		return left == "", nil
	})
	if err != nil {
		s.t.Fatalf("waiting for %s: %v; last seen: %s", what, err, left)
	}
}

func (s *space) create(d *appsv1.Deployment) *appsv1.Deployment {
	s.t.Helper()
	created, err := s.client.AppsV1().Deployments(s.name).Create(s.t.Context(), d, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatalf("creating Deployment %s: %v", d.Name, err)
	}
	return created
}

// edit changes a Deployment as somebody does who reads it, changes it and writes it back.
func (s *space) edit(name string, edits ...edit) *appsv1.Deployment {
	s.t.Helper()
	var edited *appsv1.Deployment
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d, err := s.client.AppsV1().Deployments(s.name).Get(s.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, change := range edits {
			change(d)
		}
		edited, err = s.client.AppsV1().Deployments(s.name).Update(s.t.Context(), d, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.t.Fatalf("editing Deployment %s: %v", name, err)
	}
	return edited
}

func (s *space) deployment(name string) *appsv1.Deployment {
	s.t.Helper()
	d, err := s.client.AppsV1().Deployments(s.name).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatalf("reading Deployment %s: %v", name, err)
	}
	return d
}

// patchPod applies a merge patch to a Pod, or to a subresource of it.
func (s *space) patchPod(name, patch string, subresources ...string) *corev1.Pod {
	s.t.Helper()
	pod, err := s.client.CoreV1().Pods(s.name).Patch(s.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		s.t.Fatalf("patching Pod %s: %v", name, err)
	}
	return pod
}

func (s *space) deletePod(name string) {
	s.t.Helper()
	if err := s.client.CoreV1().Pods(s.name).Delete(s.t.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatalf("deleting Pod %s: %v", name, err)
	}
}

// kubectl runs kubectl in the namespace and returns what it prints.
func (s *space) kubectl(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	output, err := s.lab.cluster.Kubectl(ctx, append([]string{"--namespace=" + s.name}, args...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return output
}
