package e2e

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file stop the process under test, so they do not run in parallel.

func TestARestartInTheMiddleOfARollout(t *testing.T) {
	tests := []struct {
		name string
		end  func(*localcluster.Process) error
	}{
		{"after SIGTERM", (*localcluster.Process).Stop},
		{"after SIGKILL", (*localcluster.Process).Kill},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSpace(t)
			s.Create(lab.NewDeployment("web", 8, lab.Rolling("2", "1"), lab.Mode(localcluster.ModeSlow)))
			s.Complete("web")
			s.Within(lab.Bounds{Most: 10, Least: 7}, func() {
				s.Edit("web", lab.Image("web:2"))
				s.Until("the middle of the rollout", func(st *lab.Story) string {
					if rs := st.WithImage("web:2"); rs == nil || rs.Status.AvailableReplicas == 0 {
						return "no new Pod is available"
					}
					return ""
				})
				if err := test.end(s.Lab.Process); err != nil {
					t.Error(err)
				}
				if wrong := lab.Incomplete(s.Deployment("web"), 2); wrong == "" {
					t.Error("the rollout was complete before the restart")
				}
				s.Restart()
				s.Complete("web")
			})
			s.WantPodCreates(8 + 8)

			s.UntilWritten()
			mark := s.Lab.Mark(t)
			s.UntilWritten()
			s.WantNoWrites(mark)
		})
	}
}

func TestTheProgressDeadlineFiresAfterARestart(t *testing.T) {
	const seconds = 8
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1, lab.Mode(localcluster.ModeNever), lab.Deadline(seconds)))
	s.UntilDeployment("web", "its Pod to be counted", func(d *appsv1.Deployment) string {
		if d.Status.UpdatedReplicas != 1 {
			return lab.TellDeployment(d)
		}
		return ""
	})
	if err := s.Lab.Process.Stop(); err != nil {
		t.Error(err)
	}
	if wrong := lab.WrongCondition(s.Deployment("web"), appsv1.DeploymentProgressing, timedOut); wrong == "" {
		t.Error("it had timed out before the process was stopped")
	}
	s.Restart()
	wantTimedOutAfter(t, s.UntilCondition("web", appsv1.DeploymentProgressing, timedOut), seconds*time.Second)
}

func TestChangesMadeWhileNobodyWasThereAreCarriedOut(t *testing.T) {
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	before := s.Complete("web").Pods.Present()
	if err := s.Lab.Process.Stop(); err != nil {
		t.Error(err)
	}
	s.Edit("web", lab.Image("web:2"), lab.Replicas(4))
	s.DeletePod(before[0].Name)
	s.Kubectl("label", "pod/"+before[1].Name, "app-")
	s.Create(lab.NewDeployment("other", 1))
	s.Restart()
	s.Complete("other")
	s.Complete("web")
	st := s.Until("4 new Pods, the other Deployment's, and the released one", func(st *lab.Story) string { return lab.WrongPods(st, 4+1+1) })
	if pod := st.Pods.Now[before[1].Name]; pod == nil || metav1.GetControllerOf(pod) != nil {
		t.Errorf("the Pod that lost its label meanwhile is %v, want it released", pod)
	}
	if rs := st.WithImage("web:2"); *rs.Spec.Replicas != 4 || lab.RevisionOf(rs) != 2 {
		t.Errorf("the new ReplicaSet is %s, want revision 2 with size 4", lab.TellReplicaSet(rs))
	}
}

func TestAnOrderlyEndTellsAllThatWasDone(t *testing.T) {
	s := newSpace(t)
	if s.NotOurs("the built-in loops lose their last events") {
		return
	}
	// No more than 10 of a kind are told one by one.
	s.Create(lab.NewDeployment("web", 8))
	s.Until("the first Pods", func(st *lab.Story) string {
		if got := len(st.Pods.Now); got < 4 {
			return fmt.Sprintf("there are %d", got)
		}
		return ""
	})
	if err := s.Lab.Process.Stop(); err != nil {
		t.Error(err)
	}
	defer s.Restart()
	pods, err := s.Client.CoreV1().Pods(s.Name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing Pods: %v", err)
	}
	for _, pod := range pods.Items {
		s.UntilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulCreate: Created pod: "+pod.Name)
	}
}
