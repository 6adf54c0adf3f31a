package better

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// withoutTerminating starts the API server anew as one that does not keep terminatingReplicas, as
// none did before 1.35, until the end of the test.
func withoutTerminating(t *testing.T) {
	t.Helper()
	cluster := theLab.Get(t).Cluster
	server := cluster.Component(localcluster.APIServer)
	older := server.Command()
	older.Name += "-older-" + utilrand.String(5)
	older.Args = append(older.Args, "--feature-gates=DeploymentReplicaSetTerminatingReplicas=false")
	// Asked to stop, it would wait for all who watch. What it knows is in etcd.
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), lab.Patience)
		defer cancel()
		if err := server.Restart(ctx); err != nil {
			t.Error(err)
		}
	})
	process, err := cluster.Launch(t.Context(), older)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Kill(); err != nil {
			t.Error(err)
		}
	})
}

// TestAnOlderAPIServer: touches Pods on an API server that does not keep terminatingReplicas.
func TestAnOlderAPIServer(t *testing.T) {
	withoutTerminating(t)
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const touches = 10
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 1))
		pod := s.Complete("web").Pods.Present()[0].Name
		untilSettled(s)
		mark := s.Lab.Mark(t)
		for i := range touches {
			s.PatchPod(pod, fmt.Sprintf(`{"metadata":{"annotations":{"note":"%d"}}}`, i))
			s.UntilWritten()
		}
		writes := s.StatusWrites(mark)
		count := writes["replicasets"] + writes["deployments"]
		cell := "none of them brings a write"
		if count > 0 {
			cell = "each of them brings a write of a status that changes nothing"
		}
		return finding{fault: count >= touches, cell: cell, counted: fmt.Sprintf("%d writes for %d", count, touches)}
	})
}

// untilSettled waits until the rollout of Deployment web is written down, twice over.
func untilSettled(s *lab.Space) {
	s.T.Helper()
	s.UntilWritten()
	s.UntilWritten()
}

// TestRecreateAfterPodsThatEnded: the old Pods end, as a kubelet tells before it lets them
// go, and something else keeps them from going.
func TestRecreateAfterPodsThatEnded(t *testing.T) {
	withoutTerminating(t)
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
		old := s.Complete("web").Pods.Present()
		s.Edit("web", lab.Image("web:2"), func(d *appsv1.Deployment) { d.Spec.Template.Finalizers = nil })
		s.Until("all old Pods to be Terminating", lab.StillWanted)
		s.UntilWritten()
		for _, pod := range old {
			s.PatchPod(pod.Name, `{"status":{"phase":"Failed"}}`, "status")
		}
		untilSettled(s)
		waits := s.Recorder.Now().WithImage("web:2") == nil
		s.Kubectl("annotate", "deployment/web", "note=x")
		s.Complete("web")
		s.LetGo()
		if waits {
			return finding{fault: true, cell: "the new Pods are not made until something else happens to the Deployment"}
		}
		return finding{cell: "the new Pods are made"}
	})
}
