package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
)

// TestSwap lets our program take over from the built-in loops and give back, with
// workloads of every kind under way. It is alone on the cluster meanwhile.
func TestSwap(t *testing.T) {
	s, refused := newSpace(t), newSpace(t)
	if s.notOurs("this is about the change to our program and back") {
		return
	}
	ours := s.lab.process
	s.standAside()
	builtin := s.launchBuiltin()
	for _, space := range []*space{s, refused} {
		space.writers = append(space.writers, builtinDeployments, builtinReplicaSets)
		space.processes = append(space.processes, builtin)
	}
	refused.limit(corev1.ResourcePods, 2)
	refused.create(newDeployment("web", 4))
	refused.untilRefused()
	s.everyState()
	s.standStill("ends-under-ours")
	s.standStill("ends-where-it-began")

	swap := func(direction string, from, to *localcluster.Process) {
		t.Helper()
		untilAllIsWritten(t) // by the one that goes
		before, pods := s.versions(), refused.identities()
		if err := from.Stop(); err != nil {
			t.Fatal(err)
		}
		mark := s.lab.mark(t)
		if err := to.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		untilAllIsWritten(t) // by the one that has come, which has looked at all by then
		s.wantNoWrites(mark)
		if diff := cmp.Diff(before, s.versions()); diff != "" {
			t.Errorf("%s objects were written (-before +after):\n%s", direction, diff)
		}
		if diff := cmp.Diff(pods, refused.identities()); diff != "" {
			t.Errorf("%s something came or went where Pods are refused (-before +after):\n%s", direction, diff)
		}
		if st := s.recorder.now(); !t.Failed() {
			report("swap %s: %d Deployments, %d ReplicaSets and %d Pods, settled, stuck and in the middle, none written",
				direction, len(st.deployments.now), len(st.replicaSets.now), len(st.pods.now))
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
	refused.unlimit()
	refused.complete("web")
}

// launchBuiltin starts the two built-in loops beside a cluster that has them turned off.
func (s *space) launchBuiltin(flags ...string) *localcluster.Process {
	s.t.Helper()
	command, err := s.lab.cluster.BuiltinLoops("built-in-"+utilrand.String(5), flags...)
	if err != nil {
		s.t.Fatal(err)
	}
	process, err := s.lab.cluster.Launch(s.t.Context(), command)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			s.t.Error(err)
		}
	})
	return process
}

// everyState makes workloads that are settled or stuck, each in another way.
func (s *space) everyState() {
	s.t.Helper()
	s.createReplicaSet(newReplicaSet("bare", 2))
	s.untilReplicaSet("bare", 2)
	make := func(name string, size int32, edits ...edit) {
		s.create(newDeployment(name, size, edits...))
		s.complete(name)
	}
	make("settled", 3, annotated("team", "blue"))
	make("rolled", 1)
	s.edit("rolled", image("web:2"))
	s.complete("rolled")
	make("empty", 0)

	make("never-ready", 3, rolling("1", "0"))
	s.edit("never-ready", unready("web:2"))
	s.untilEachOf("never-ready", "web:1=3 web:2=1")
	make("held", 2, atOnce(), held())
	s.edit("held", image("web:2"))
	s.complete("held")
	make("no-surge", 3, rolling("0", "1"))
	s.edit("no-surge", unready("web:2"))
	s.untilEachOf("no-surge", "web:1=2 web:2=1")

	make("paused", 2)
	s.edit("paused", isPaused(true), image("web:2"))
	s.untilCondition("paused", "Progressing", paused)
	make("paused-in-the-middle", 2, rolling("1", "0"))
	s.edit("paused-in-the-middle", unready("web:2"))
	s.untilEachOf("paused-in-the-middle", "web:1=2 web:2=1")
	s.edit("paused-in-the-middle", isPaused(true))
	s.untilCondition("paused-in-the-middle", "Progressing", paused)

	make("recreate", 2, recreate(), held())
	s.edit("recreate", image("web:2"))
	s.untilEachOf("recreate", "web:1=0")
	make("too-late", 2, rolling("1", "0"))
	s.edit("too-late", unready("web:2"))
	s.untilEachOf("too-late", "web:1=2 web:2=1")
	s.edit("too-late", deadline(1))
	s.untilCondition("too-late", "Progressing", timedOut)
}

// standStill brings a Deployment to the middle of its rollout, from where goOn takes it.
func (s *space) standStill(name string) {
	s.t.Helper()
	s.create(newDeployment(name, 2, rolling("1", "0")))
	s.complete(name)
	s.edit(name, unready(name+":2"))
	s.untilEachOf(name, name+":2=1 web:1=2")
}

// goOn makes the new Pods ready one by one, to the end, and checks that the rollout that
// another process began was brought to its end, not begun anew.
func (s *space) goOn(name string) {
	s.t.Helper()
	for _, sizes := range []string{":2=2 web:1=1", ":2=2 web:1=0"} {
		s.makeOneReady(name + ":2")
		s.untilEachOf(name, name+sizes)
	}
	st := s.complete(name)
	if rs := st.newest(name); revisionOf(rs) != 2 || revisionOf(st.deployments.now[name]) != 2 {
		s.t.Errorf("%s ended with revision %d, want 2", name, revisionOf(rs))
	}
	if told := tellSizes(st, name); strings.Count(told, "=") != 2 {
		s.t.Errorf("%s ended with the ReplicaSets %s, want 2 of them", name, told)
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
		return fmt.Sprintf("%s %s %s revision %d", kind, object.GetName(), object.GetUID(), revisionOf(object))
	})
}

func (s *space) listed(tell func(kind string, object metav1.Object) string) []string {
	st := s.recorder.now()
	var lines []string
	for _, object := range st.deployments.present() {
		lines = append(lines, tell("Deployment", object))
	}
	for _, object := range st.replicaSets.present() {
		lines = append(lines, tell("ReplicaSet", object))
	}
	for _, object := range st.pods.present() {
		lines = append(lines, tell("Pod", object))
	}
	slices.Sort(lines)
	return lines
}
