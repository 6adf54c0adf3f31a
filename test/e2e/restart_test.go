package e2e

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
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
			s.create(newDeployment("web", 8, rolling("2", "1"), mode(localcluster.ModeSlow)))
			s.complete("web")
			s.within(bounds{most: 10, least: 7}, func() {
				s.edit("web", image("web:2"))
				s.until("the middle of the rollout", func(st *story) string {
					if rs := st.withImage("web:2"); rs == nil || rs.Status.AvailableReplicas == 0 {
						return "no new Pod is available"
					}
					return ""
				})
				if err := test.end(s.lab.process); err != nil {
					t.Error(err)
				}
				if wrong := incomplete(s.deployment("web"), 2); wrong == "" {
					t.Error("the rollout was complete before the restart")
				}
				s.restart()
				s.complete("web")
			})
			s.wantPodCreates(8 + 8)

			s.untilWritten()
			mark := s.lab.mark(t)
			s.untilWritten()
			s.wantNoWrites(mark)
		})
	}
}

// restart starts the process under test again.
func (s *space) restart() {
	s.t.Helper()
	if err := s.lab.process.Restart(s.t.Context()); err != nil {
		s.t.Fatalf("starting the process under test again: %v", err)
	}
}

func TestTheProgressDeadlineFiresAfterARestart(t *testing.T) {
	const seconds = 8
	s := newSpace(t)
	s.create(newDeployment("web", 1, mode(localcluster.ModeNever), deadline(seconds)))
	s.untilDeployment("web", "its Pod to be counted", func(d *appsv1.Deployment) string {
		if d.Status.UpdatedReplicas != 1 {
			return tellDeployment(d)
		}
		return ""
	})
	if err := s.lab.process.Stop(); err != nil {
		t.Error(err)
	}
	if wrong := wrongCondition(s.deployment("web"), appsv1.DeploymentProgressing, timedOut); wrong == "" {
		t.Error("it had timed out before the process was stopped")
	}
	s.restart()
	wantTimedOutAfter(t, s.untilCondition("web", appsv1.DeploymentProgressing, timedOut), seconds*time.Second)
}

func TestChangesMadeWhileNobodyWasThereAreCarriedOut(t *testing.T) {
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	before := s.complete("web").pods.present()
	if err := s.lab.process.Stop(); err != nil {
		t.Error(err)
	}
	s.edit("web", image("web:2"), replicas(4))
	s.deletePod(before[0].Name)
	s.kubectl("label", "pod/"+before[1].Name, "app-")
	s.create(newDeployment("other", 1))
	s.restart()
	s.complete("other")
	s.complete("web")
	st := s.until("4 new Pods, the other Deployment's, and the released one", func(st *story) string { return wrongPods(st, 4+1+1) })
	if pod := st.pods.now[before[1].Name]; pod == nil || metav1.GetControllerOf(pod) != nil {
		t.Errorf("the Pod that lost its label meanwhile is %v, want it released", pod)
	}
	if rs := st.withImage("web:2"); *rs.Spec.Replicas != 4 || revisionOf(rs) != 2 {
		t.Errorf("the new ReplicaSet is %s, want revision 2 with size 4", tellReplicaSet(rs))
	}
}

func TestAnOrderlyEndTellsAllThatWasDone(t *testing.T) {
	s := newSpace(t)
	if s.notOurs("the built-in loops lose their last events") {
		return
	}
	// No more than 10 of a kind are told one by one.
	s.create(newDeployment("web", 8))
	s.until("the first Pods", func(st *story) string {
		if got := len(st.pods.now); got < 4 {
			return fmt.Sprintf("there are %d", got)
		}
		return ""
	})
	if err := s.lab.process.Stop(); err != nil {
		t.Error(err)
	}
	defer s.restart()
	pods, err := s.client.CoreV1().Pods(s.name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing Pods: %v", err)
	}
	for _, pod := range pods.Items {
		s.untilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulCreate: Created pod: "+pod.Name)
	}
}
