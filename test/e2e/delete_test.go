package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

func TestDeleteInTheBackgroundTakesEverything(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	s.Complete("web")
	s.Kubectl("delete", "deployment/web", "--cascade=background")
	s.untilGone()
	s.WantPodCreates(3)
}

// TestDeleteInTheForegroundMakesNothingNew: not even if somebody changes what is being
// deleted. kubernetes#24934, #47960, openshift/origin#14805, kubernetes#115570.
func TestDeleteInTheForegroundMakesNothingNew(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.Held()))
	pods := s.Complete("web").Pods.Present()
	s.Kubectl("delete", "deployment/web", "--cascade=foreground", "--wait=false")
	s.Until("all Pods to be Terminating", lab.StillWanted)
	s.Edit("web", lab.Image("web:2"), lab.Replicas(5))
	s.UntilObserved()
	rs := s.Recorder.Now().WithImage("web:1")
	s.CreatePod(bare("bare", rs.Spec.Template.Labels))
	s.untilLookedAt(rs.Name, 6)
	if owner := metav1.GetControllerOf(s.Recorder.Now().Pods.Now["bare"]); owner != nil {
		t.Errorf("a Pod was adopted by %s %s, which is being deleted", owner.Kind, owner.Name)
	}
	s.DeletePod("bare")
	for _, pod := range pods {
		s.release(pod.Name)
	}
	st := s.untilGone()
	if replicaSets, pods := st.ReplicaSets.Born(), st.Pods.Born(); replicaSets != 1 || pods != 3+1 {
		t.Errorf("%d ReplicaSets and %d Pods were made in all, want 1 and 3, and the bare one", replicaSets, pods)
	}
	s.WantPodCreates(3)
}

// bare is a Pod of nobody's.
func bare(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       lab.NewDeployment("web", 1).Spec.Template.Spec,
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
	s.T.Helper()
	s.Kubectl("scale", "replicaset/"+replicaSet, fmt.Sprintf("--replicas=%d", size))
	s.Until("ReplicaSet "+replicaSet+" to be looked at", func(st *lab.Story) string {
		if rs := st.ReplicaSets.Now[replicaSet]; *rs.Spec.Replicas != size || rs.Status.ObservedGeneration < rs.Generation {
			return lab.TellReplicaSet(rs)
		}
		return ""
	})
}

// TestAReplicaSetDeletedInTheForegroundIsMadeAgainOnceItIsGone: until then nothing is made
// in its place; and it never has a finalizer of its Deployment's. kubernetes#24934, #47960.
func TestAReplicaSetDeletedInTheForegroundIsMadeAgainOnceItIsGone(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.Held(), func(d *appsv1.Deployment) { d.Finalizers = []string{lab.Hold} }))
	before := s.Complete("web")
	rs := before.WithImage("web:1")
	if len(rs.Finalizers) != 0 {
		t.Errorf("the ReplicaSet has the finalizers %v, want none", rs.Finalizers)
	}
	s.Kubectl("delete", "replicaset/"+rs.Name, "--cascade=foreground", "--wait=false")
	s.Until("all Pods to be Terminating", lab.StillWanted)
	s.Edit("web", lab.HistoryLimit(5))
	s.UntilObserved()
	if s.Lab.Ours { // the built-in loop scales a ReplicaSet back that is being deleted
		s.untilLookedAt(rs.Name, 4)
	}
	if st := s.Recorder.Now(); st.ReplicaSets.Born() != 1 || st.Pods.Born() != 3 {
		t.Errorf("%d ReplicaSets and %d Pods were made beside what is being deleted, want 1 and 3", st.ReplicaSets.Born(), st.Pods.Born())
	}
	s.LetGo()
	s.Until("the ReplicaSet to be made again", func(st *lab.Story) string {
		if again := st.ReplicaSets.Now[rs.Name]; again == nil || again.UID == rs.UID {
			return "it is not"
		}
		return ""
	})
	after := s.Complete("web")
	if count := after.Deployments.Now["web"].Status.CollisionCount; count != nil {
		t.Errorf("the collision count is %d, want none", *count)
	}
	s.WantPodCreates(3 + 3)
	s.LetGo()
	s.Edit("web", func(d *appsv1.Deployment) { d.Finalizers = nil })
}

func TestDeleteThatOrphansLeavesEverythingToTheNextDeployment(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	before := s.Complete("web")
	s.Kubectl("delete", "deployment/web", "--cascade=orphan")
	s.Until("the ReplicaSet to be nobody's", func(st *lab.Story) string {
		if len(st.Deployments.Now) > 0 || metav1.GetControllerOf(st.ReplicaSets.Now[lab.WebReplicaSet]) != nil {
			return "it still has an owner"
		}
		return ""
	})

	again := s.Create(lab.NewDeployment("web", 3))
	after := s.Complete("web")
	if rs := after.ReplicaSets.Now[lab.WebReplicaSet]; !metav1.IsControlledBy(rs, again) || rs.UID != before.ReplicaSets.Now[lab.WebReplicaSet].UID {
		t.Errorf("the ReplicaSet that was left is not the new Deployment's")
	}
	s.wantSurvivors(before)
	s.WantPodCreates(3)
}

// wantSurvivors fails unless all Pods of before still exist, and are not being deleted.
func (s *space) wantSurvivors(before *lab.Story) {
	s.T.Helper()
	now := s.Recorder.Now()
	for name, pod := range before.Pods.Now {
		if survivor := now.Pods.Now[name]; survivor == nil || survivor.UID != pod.UID || survivor.DeletionTimestamp != nil {
			s.T.Errorf("Pod %s did not survive", name)
		}
	}
}

// TestADeletedReplicaSetIsMadeAgain: under the same name, and with the Pods it left. kubernetes#88550.
func TestADeletedReplicaSetIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	before := s.Complete("web")
	s.Kubectl("delete", "replicaset/"+lab.WebReplicaSet, "--cascade=orphan")
	s.Until("another ReplicaSet with the same Pods", func(st *lab.Story) string {
		rs := st.ReplicaSets.Now[lab.WebReplicaSet]
		if rs == nil || rs.UID == before.ReplicaSets.Now[lab.WebReplicaSet].UID {
			return "there is none"
		}
		if pods := len(st.PodsOf(rs)); pods != 3 || len(st.Pods.Now) != 3 || rs.Status.AvailableReplicas != 3 {
			return fmt.Sprintf("it has %d of %d Pods, %d available", pods, len(st.Pods.Now), rs.Status.AvailableReplicas)
		}
		return ""
	})
	s.wantSurvivors(before)
}
