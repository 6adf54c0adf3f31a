package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeleteInTheBackgroundTakesEverything(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	s.complete("web")
	s.kubectl("delete", "deployment/web", "--cascade=background")
	s.until("everything to be gone", somethingLeft)
	s.wantPodCreates(3)
}

func somethingLeft(st *story) string {
	if d, rs, pods := len(st.deployments.now), len(st.replicaSets.now), len(st.pods.now); d+rs+pods > 0 {
		return fmt.Sprintf("%d Deployments, %d ReplicaSets and %d Pods are left", d, rs, pods)
	}
	return ""
}

func TestDeleteInTheForegroundMakesNothingNew(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3, held()))
	pods := s.complete("web").pods.present()
	s.kubectl("delete", "deployment/web", "--cascade=foreground", "--wait=false")
	s.until("all Pods to be Terminating", func(st *story) string {
		for _, pod := range st.pods.present() {
			if pod.DeletionTimestamp == nil {
				return pod.Name + " is not"
			}
		}
		return ""
	})

	generation := s.edit("web", image("web:2"), replicas(5)).Generation
	s.untilDeployment("web", "to be looked at while it is deleted", func(d *appsv1.Deployment) string {
		if d.Status.ObservedGeneration < generation {
			return fmt.Sprintf("generation %d is observed, not %d", d.Status.ObservedGeneration, generation)
		}
		return ""
	})
	for _, pod := range pods {
		s.release(pod.Name)
	}
	st := s.until("everything to be gone", somethingLeft)
	if replicaSets, pods := st.replicaSets.born(), st.pods.born(); replicaSets != 1 || pods != 3 {
		t.Errorf("%d ReplicaSets and %d Pods were made in all, want 1 and 3", replicaSets, pods)
	}
	s.wantPodCreates(3)
}

func TestDeleteThatOrphansLeavesEverythingToTheNextDeployment(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	before := s.complete("web")
	s.kubectl("delete", "deployment/web", "--cascade=orphan")
	s.until("the ReplicaSet to be nobody's", func(st *story) string {
		if len(st.deployments.now) > 0 || metav1.GetControllerOf(st.replicaSets.now[webReplicaSet]) != nil {
			return "it still has an owner"
		}
		return ""
	})

	again := s.create(newDeployment("web", 3))
	after := s.complete("web")
	if rs := after.replicaSets.now[webReplicaSet]; !metav1.IsControlledBy(rs, again) || rs.UID != before.replicaSets.now[webReplicaSet].UID {
		t.Errorf("the ReplicaSet that was left is not the new Deployment's")
	}
	s.wantSurvivors(before)
	s.wantPodCreates(3)
}

// wantSurvivors fails unless all Pods of before still exist, and are not being deleted.
func (s *space) wantSurvivors(before *story) {
	s.t.Helper()
	now := s.recorder.now()
	for name, pod := range before.pods.now {
		if survivor := now.pods.now[name]; survivor == nil || survivor.UID != pod.UID || survivor.DeletionTimestamp != nil {
			s.t.Errorf("Pod %s did not survive", name)
		}
	}
}

func TestADeletedReplicaSetIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	before := s.complete("web")
	s.kubectl("delete", "replicaset/"+webReplicaSet, "--cascade=orphan")
	s.until("another ReplicaSet with the same Pods", func(st *story) string {
		rs := st.replicaSets.now[webReplicaSet]
		if rs == nil || rs.UID == before.replicaSets.now[webReplicaSet].UID {
			return "there is none"
		}
		if pods := len(st.podsOf(rs)); pods != 3 || len(st.pods.now) != 3 || rs.Status.AvailableReplicas != 3 {
			return fmt.Sprintf("it has %d of %d Pods, %d available", pods, len(st.pods.now), rs.Status.AvailableReplicas)
		}
		return ""
	})
	s.wantSurvivors(before)
}
