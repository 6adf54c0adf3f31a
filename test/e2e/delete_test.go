package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeleteInTheBackgroundTakesEverything(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	s.complete("web")
	s.kubectl("delete", "deployment/web", "--cascade=background")
	s.untilGone()
	s.wantPodCreates(3)
}

// TestDeleteInTheForegroundMakesNothingNew: not even if somebody changes what is being
// deleted. kubernetes#24934, #47960, openshift/origin#14805, kubernetes#115570.
func TestDeleteInTheForegroundMakesNothingNew(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3, held()))
	pods := s.complete("web").pods.present()
	s.kubectl("delete", "deployment/web", "--cascade=foreground", "--wait=false")
	s.until("all Pods to be Terminating", stillWanted)
	s.edit("web", image("web:2"), replicas(5))
	s.untilObserved()
	rs := s.recorder.now().withImage("web:1")
	s.createPod(bare("bare", rs.Spec.Template.Labels))
	s.untilLookedAt(rs.Name, 6)
	if owner := metav1.GetControllerOf(s.recorder.now().pods.now["bare"]); owner != nil {
		t.Errorf("a Pod was adopted by %s %s, which is being deleted", owner.Kind, owner.Name)
	}
	s.deletePod("bare")
	for _, pod := range pods {
		s.release(pod.Name)
	}
	st := s.untilGone()
	if replicaSets, pods := st.replicaSets.born(), st.pods.born(); replicaSets != 1 || pods != 3+1 {
		t.Errorf("%d ReplicaSets and %d Pods were made in all, want 1 and 3, and the bare one", replicaSets, pods)
	}
	s.wantPodCreates(3)
}

// bare is a Pod of nobody's.
func bare(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       newDeployment("web", 1).Spec.Template.Spec,
	}
}

// withCost gives a Pod a deletion cost: the cheapest goes first.
func withCost(pod *corev1.Pod, cost string) *corev1.Pod {
	pod.Annotations = map[string]string{corev1.PodDeletionCost: cost}
	return pod
}

// untilLookedAt gives a ReplicaSet a size that nobody wants and waits until it was looked
// at with that.
func (s *space) untilLookedAt(replicaSet string, size int32) {
	s.t.Helper()
	s.kubectl("scale", "replicaset/"+replicaSet, fmt.Sprintf("--replicas=%d", size))
	s.until("ReplicaSet "+replicaSet+" to be looked at", func(st *story) string {
		if rs := st.replicaSets.now[replicaSet]; *rs.Spec.Replicas != size || rs.Status.ObservedGeneration < rs.Generation {
			return tellReplicaSet(rs)
		}
		return ""
	})
}

// TestAReplicaSetDeletedInTheForegroundIsMadeAgainOnceItIsGone: until then nothing is made
// in its place; and it never has a finalizer of its Deployment's. kubernetes#24934, #47960.
func TestAReplicaSetDeletedInTheForegroundIsMadeAgainOnceItIsGone(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3, held(), func(d *appsv1.Deployment) { d.Finalizers = []string{hold} }))
	before := s.complete("web")
	rs := before.withImage("web:1")
	if len(rs.Finalizers) != 0 {
		t.Errorf("the ReplicaSet has the finalizers %v, want none", rs.Finalizers)
	}
	s.kubectl("delete", "replicaset/"+rs.Name, "--cascade=foreground", "--wait=false")
	s.until("all Pods to be Terminating", stillWanted)
	s.edit("web", historyLimit(5))
	s.untilObserved()
	if s.lab.ours { // the built-in loop scales a ReplicaSet back that is being deleted
		s.untilLookedAt(rs.Name, 4)
	}
	if st := s.recorder.now(); st.replicaSets.born() != 1 || st.pods.born() != 3 {
		t.Errorf("%d ReplicaSets and %d Pods were made beside what is being deleted, want 1 and 3", st.replicaSets.born(), st.pods.born())
	}
	s.letGo()
	s.until("the ReplicaSet to be made again", func(st *story) string {
		if again := st.replicaSets.now[rs.Name]; again == nil || again.UID == rs.UID {
			return "it is not"
		}
		return ""
	})
	after := s.complete("web")
	if count := after.deployments.now["web"].Status.CollisionCount; count != nil {
		t.Errorf("the collision count is %d, want none", *count)
	}
	s.wantPodCreates(3 + 3)
	s.letGo()
	s.edit("web", func(d *appsv1.Deployment) { d.Finalizers = nil })
}

// stillWanted says which Pod is not being deleted, if one is not.
func stillWanted(st *story) string {
	for _, pod := range st.pods.present() {
		if pod.DeletionTimestamp == nil {
			return pod.Name + " is not being deleted"
		}
	}
	return ""
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

// TestADeletedReplicaSetIsMadeAgain: under the same name, and with the Pods it left. kubernetes#88550.
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
