package better

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// The tests in this file are about what was reported too, and is no fault of the built-in loops
// of today, or one that ours have just the same: docs/better.md does not claim it.

// still is for how long a watch stands still in TestAWatchThatStandsStill. What was reported took
// five minutes to show: -still=6m.
var still = flag.Duration("still", 20*time.Second, "for how long a watch stands still")

// alike runs a script under the built-in loops and under ours. The same must come of both, which
// the test's row in the second table must say.
func alike(t *testing.T, run script, flags ...string) {
	t.Helper()
	builtin, ours := underBuiltin(t, run, flags), underOurs(t, run, flags)
	if t.Failed() {
		return
	}
	if ours.fault {
		t.Errorf("ours have the fault: %s", ours)
	}
	if builtin.fault {
		t.Errorf("the built-in loops have the fault, so it may be claimed: %s", builtin)
	}
	if builtin.cell != ours.cell {
		t.Errorf("they are not alike: the built-in loops: %s; ours: %s", builtin, ours)
	}
	fmt.Fprintf(os.Stdout, "%s\n  both:     %s\n", t.Name(), ours)
	if !t.Failed() {
		wantRow(t, ours.cell)
	}
}

// TestAWatchThatStandsStill: kubernetes#129795. The watch of Pods stands still from when more
// Pods are to be made, while other things wake the ReplicaSet.
func TestAWatchThatStandsStill(t *testing.T) {
	alike(t, func(t *testing.T, l *lab.Lab) finding {
		const size = 8
		var watch proxy.Gate
		b := l.BehindProxy(t, proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: "pods"}, Action: proxy.Hold(&watch)})
		s := b.NewSpace(t)
		s.Create(lab.NewDeployment("web", 5))
		rs := s.Complete("web").Newest("web").Name
		t.Cleanup(watch.Open)
		watch.Shut()
		s.Edit("web", lab.Replicas(size))
		s.Until("more Pods", func(st *lab.Story) string { return lab.WrongPods(st, size) })
		began := time.Now()
		for n := 0; time.Since(began) < *still; n++ {
			s.Kubectl("annotate", "--overwrite", "replicaset/"+rs, fmt.Sprintf("note=%d", n))
			<-time.After(time.Second)
		}
		watch.Open()
		s.Complete("web")
		made := s.Recorder.Now().Pods.Born()
		return finding{fault: made > size, cell: fmt.Sprintf("%d Pods made for %d wanted", made, size), counted: fmt.Sprintf("in %s", *still)}
	})
}

// TestAKillWhilePodsAreMade: kubernetes#67662. The process is killed before it has heard of
// the Pods that it has made, and starts again.
func TestAKillWhilePodsAreMade(t *testing.T) {
	alike(t, func(t *testing.T, l *lab.Lab) finding {
		const size, begun = 50, 10
		b := l.BehindProxy(t)
		s := b.NewSpace(t)
		b.Act(t, proxy.Rule{Match: proxy.Match{Verb: "create", Resource: "pods", Namespace: s.Name}, Action: proxy.DelayAnswer(time.Second)})
		s.Create(lab.NewDeployment("web", size))
		s.Until("some of the Pods", func(st *lab.Story) string {
			if made := st.Pods.Born(); made < begun {
				return fmt.Sprintf("there are %d", made)
			}
			return ""
		})
		if err := b.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		before := s.Recorder.Now().Pods.Born()
		if err := b.Process.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Complete("web")
		made := s.Recorder.Now().Pods.Born()
		return finding{
			fault: made > size || before == size, cell: fmt.Sprintf("%d Pods made for %d wanted", made, size),
			counted: fmt.Sprintf("%d of them before", before),
		}
	})
}

// TestRecreateAndAPodThatFailedLongAgo: kubernetes#128798, on an API server of today.
func TestRecreateAndAPodThatFailedLongAgo(t *testing.T) {
	alike(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 2, lab.Recreate()))
		failed := s.Complete("web").Pods.Present()[0].Name
		s.PatchPod(failed, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
		s.Until("another one in its place", func(st *lab.Story) string {
			if made := st.Pods.Born(); made < 3 {
				return fmt.Sprintf("%d were made", made)
			}
			return ""
		})
		s.UntilDeployment("web", "to be complete", complete)
		s.Edit("web", lab.Image("web:2"))
		began := time.Now()
		made := 0
		s.Poll("the new Pods", func(context.Context) string {
			if rs := s.Recorder.Now().WithImage("web:2"); rs != nil {
				made = int(rs.Status.ReadyReplicas)
			}
			if made < 2 && time.Since(began) < 20*time.Second {
				return fmt.Sprintf("there are %d", made)
			}
			return ""
		})
		return finding{fault: made < 2, cell: fmt.Sprintf("%d of 2 new Pods are made", made)}
	})
}

// TestANodeWhoseClockIsWrong: kubernetes#29229. minReadySeconds goes by when a Pod became ready,
// which a node says by its own clock.
func TestANodeWhoseClockIsWrong(t *testing.T) {
	alike(t, func(t *testing.T, l *lab.Lab) finding {
		const ready, ahead = 5 * time.Second, 10 * time.Second
		wait := func(skew time.Duration) time.Duration {
			s := l.NewSpace(t)
			s.Create(lab.NewDeployment("web", 1, lab.Mode(localcluster.ModeNever), lab.MinReady(int32(ready.Seconds()))))
			st := s.Until("a Pod on a node", func(st *lab.Story) string {
				if pods := st.Pods.Present(); len(pods) == 0 || pods[0].Spec.NodeName == "" {
					return "there is none"
				}
				return ""
			})
			began := time.Now()
			s.PatchPod(st.Pods.Present()[0].Name, fmt.Sprintf(
				`{"status":{"phase":"Running","conditions":[{"type":%q,"status":"True","lastTransitionTime":%q}]}}`,
				corev1.PodReady, began.Add(skew).UTC().Format(time.RFC3339)), "status")
			s.UntilDeployment("web", "to be available", func(d *appsv1.Deployment) string {
				if d.Status.AvailableReplicas != 1 {
					return "it is not"
				}
				return ""
			})
			return time.Since(began)
		}
		late, early := wait(ahead), wait(-time.Hour)
		cell := "they are available when that time has passed by our clock"
		if late >= ahead+ready-2*time.Second && early < ready-time.Second {
			cell = "its Pods are available too late by as much as it is ahead, and at once if it is behind"
		}
		return finding{cell: cell, counted: fmt.Sprintf("after %.1f s with a clock that is %s ahead, and after %.1f s with one that is an hour behind, with minReadySeconds %.0f",
			late.Seconds(), ahead, early.Seconds(), ready.Seconds())}
	})
}

// complete says what a Deployment of two lacks to be complete.
func complete(d *appsv1.Deployment) string { return lab.Incomplete(d, d.Generation) }
