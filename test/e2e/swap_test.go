package e2e

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// TestSwap lets our program take over from the built-in loops and give back, with
// workloads of every kind under way. It is alone on the cluster meanwhile.
func TestSwap(t *testing.T) {
	s, refused := newSpace(t), newSpace(t)
	if s.NotOurs("this is about the change to our program and back") {
		return
	}
	ours := s.Lab.Process
	s.StandAside()
	builtin := s.Lab.LaunchBuiltin(t)
	for _, space := range []*space{s, refused} {
		space.Writers = append(space.Writers, lab.BuiltinDeployments, lab.BuiltinReplicaSets)
		space.Processes = append(space.Processes, builtin)
	}
	refused.Limit(corev1.ResourcePods, 2)
	refused.Create(lab.NewDeployment("web", 4))
	refused.untilRefused()
	s.everyState()
	s.standStill("ends-under-ours")
	s.standStill("ends-where-it-began")

	swap := func(direction string, from, to *localcluster.Process) {
		t.Helper()
		s.Lab.UntilAllIsWritten(t) // by the one that goes
		before, pods := s.versions(), refused.identities()
		if err := from.Stop(); err != nil {
			t.Fatal(err)
		}
		mark := s.Lab.Mark(t)
		if err := to.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Lab.UntilAllIsWritten(t) // by the one that has come, which has looked at all by then
		s.WantNoWrites(mark)
		if diff := cmp.Diff(before, s.versions()); diff != "" {
			t.Errorf("%s objects were written (-before +after):\n%s", direction, diff)
		}
		if diff := cmp.Diff(pods, refused.identities()); diff != "" {
			t.Errorf("%s something came or went where Pods are refused (-before +after):\n%s", direction, diff)
		}
		if st := s.Recorder.Now(); !t.Failed() {
			report("swap %s: %d Deployments, %d ReplicaSets and %d Pods, settled, stuck and in the middle, none written",
				direction, len(st.Deployments.Now), len(st.ReplicaSets.Now), len(st.Pods.Now))
		}
	}
	swap("from the built-in loops to ours", builtin, ours)
	s.goOn("ends-under-ours")
	s.standStill("ends-under-the-built-in")
	if n := s.foreignWrites(s.mayReadAll(ours.URL+"/metrics"), ours.URL); n != 0 {
		t.Errorf("%v writes by the built-in loops were seen after they had ended", n)
	}
	swap("from ours to the built-in loops", ours, builtin)
	s.goOn("ends-where-it-began")
	s.goOn("ends-under-the-built-in")
	refused.Unlimit()
	refused.Complete("web")
}

// everyState makes workloads that are settled or stuck, each in another way.
func (s *space) everyState() {
	s.T.Helper()
	s.CreateReplicaSet(lab.NewReplicaSet("bare", 2))
	s.UntilReplicaSet("bare", 2)
	make := func(name string, size int32, edits ...lab.Edit) {
		s.Create(lab.NewDeployment(name, size, edits...))
		s.Complete(name)
	}
	make("settled", 3, lab.Annotated("team", "blue"))
	make("rolled", 1)
	s.Edit("rolled", lab.Image("web:2"))
	s.Complete("rolled")
	make("empty", 0)

	make("never-ready", 3, lab.Rolling("1", "0"))
	s.Edit("never-ready", unready("web:2"))
	s.UntilEachOf("never-ready", "web:1=3 web:2=1")
	make("held", 2, atOnce(), lab.Held())
	s.Edit("held", lab.Image("web:2"))
	s.Complete("held")
	make("no-surge", 3, lab.Rolling("0", "1"))
	s.Edit("no-surge", unready("web:2"))
	s.UntilEachOf("no-surge", "web:1=2 web:2=1")

	make("paused", 2)
	s.Edit("paused", isPaused(true), lab.Image("web:2"))
	s.UntilCondition("paused", "Progressing", paused)
	make("paused-in-the-middle", 2, lab.Rolling("1", "0"))
	s.Edit("paused-in-the-middle", unready("web:2"))
	s.UntilEachOf("paused-in-the-middle", "web:1=2 web:2=1")
	s.Edit("paused-in-the-middle", isPaused(true))
	s.UntilCondition("paused-in-the-middle", "Progressing", paused)

	make("recreate", 2, lab.Recreate(), lab.Held())
	// Without a deadline, for what Progressing says then is not the same: better.TestRecreateThatLooksDone.
	s.Edit("recreate", lab.Image("web:2"), lab.Deadline(math.MaxInt32))
	s.UntilEachOf("recreate", "web:1=0")
	make("too-late", 2, lab.Rolling("1", "0"))
	s.Edit("too-late", unready("web:2"))
	s.UntilEachOf("too-late", "web:1=2 web:2=1")
	s.Edit("too-late", lab.Deadline(1))
	s.UntilCondition("too-late", "Progressing", timedOut)
}

// standStill brings a Deployment to the middle of its rollout, from where goOn takes it.
func (s *space) standStill(name string) {
	s.T.Helper()
	s.Create(lab.NewDeployment(name, 2, lab.Rolling("1", "0")))
	s.Complete(name)
	s.Edit(name, unready(name+":2"))
	s.UntilEachOf(name, name+":2=1 web:1=2")
}

// goOn makes the new Pods ready one by one, to the end, and checks that the rollout that
// another process began was brought to its end, not begun anew.
func (s *space) goOn(name string) {
	s.T.Helper()
	for _, sizes := range []string{":2=2 web:1=1", ":2=2 web:1=0"} {
		s.makeOneReady(name + ":2")
		s.UntilEachOf(name, name+sizes)
	}
	st := s.Complete(name)
	if rs := st.Newest(name); lab.RevisionOf(rs) != 2 || lab.RevisionOf(st.Deployments.Now[name]) != 2 {
		s.T.Errorf("%s ended with revision %d, want 2", name, lab.RevisionOf(rs))
	}
	if told := lab.TellSizes(st, name); strings.Count(told, "=") != 2 {
		s.T.Errorf("%s ended with the ReplicaSets %s, want 2 of them", name, told)
	}
}

// versions are all objects but events, with UID and resourceVersion: who compares them
// sees every write.
func (s *space) versions() []string {
	return s.listed(func(kind string, object metav1.Object) string {
		return fmt.Sprintf("%s %s %s version %s", kind, object.GetName(), object.GetUID(), object.GetResourceVersion())
	})
}

// identities are all objects but events, with UID and revision.
func (s *space) identities() []string {
	return s.listed(func(kind string, object metav1.Object) string {
		return fmt.Sprintf("%s %s %s revision %d", kind, object.GetName(), object.GetUID(), lab.RevisionOf(object))
	})
}

func (s *space) listed(tell func(kind string, object metav1.Object) string) []string {
	st := s.Recorder.Now()
	var lines []string
	for _, object := range st.Deployments.Present() {
		lines = append(lines, tell("Deployment", object))
	}
	for _, object := range st.ReplicaSets.Present() {
		lines = append(lines, tell("ReplicaSet", object))
	}
	for _, object := range st.Pods.Present() {
		lines = append(lines, tell("Pod", object))
	}
	slices.Sort(lines)
	return lines
}
