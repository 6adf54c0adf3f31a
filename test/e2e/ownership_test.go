package e2e

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestABareMatchingPodIsAdoptedAndTheSurplusGoes: at once, not at a resync. kubernetes#32829.
func TestABareMatchingPodIsAdoptedAndTheSurplusGoes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	rs := s.complete("web").replicaSets.now[webReplicaSet]
	// It is worth more than the others, so that it is one of them that goes.
	s.createPod(withCost(bare("bare", nil), "100"))
	s.until("the bare Pod to be ready", func(st *story) string {
		if pod := st.pods.now["bare"]; pod == nil || st.available(0, pod.CreationTimestamp.Add(patience)) != 4 {
			return "it is not"
		}
		return ""
	})

	s.kubectl("label", "pod/bare", "app=web", "pod-template-hash="+webHash)
	st := s.until("the bare Pod to be adopted and another one to go", func(st *story) string {
		if !metav1.IsControlledBy(st.pods.now["bare"], rs) {
			return "it is not adopted"
		}
		return wrongPods(st, 3)
	})
	want := *metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	if got := st.pods.now["bare"].OwnerReferences; len(got) != 1 || got[0].UID != want.UID || !*got[0].BlockOwnerDeletion {
		t.Errorf("the owners of the adopted Pod are %v, want %v", got, want)
	}
	s.complete("web")
	s.wantPodCreates(3)
}

func (s *space) createPod(pod *corev1.Pod) {
	s.t.Helper()
	if _, err := s.client.CoreV1().Pods(s.name).Create(s.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		s.t.Fatalf("creating Pod %s: %v", pod.Name, err)
	}
}

// TestAPodThatLosesItsLabelIsReleasedAndReplaced: kubernetes#32829.
func TestAPodThatLosesItsLabelIsReleasedAndReplaced(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 2))
	before := s.complete("web")
	released := before.pods.present()[0].Name
	s.kubectl("label", "pod/"+released, "app-")
	s.until("the Pod to be nobody's and a third one to exist", func(st *story) string {
		if metav1.GetControllerOf(st.pods.now[released]) != nil {
			return "it still has an owner"
		}
		return wrongPods(st, 3)
	})
	s.complete("web")
	s.edit("web", replicas(0))
	s.until("only the released Pod to be left", func(st *story) string { return wrongPods(st, 1) })
	if s.recorder.now().pods.now[released] == nil {
		t.Errorf("the released Pod is gone")
	}
	s.wantPodCreates(3)
}

func TestAReplicaSetWithoutAnOwnerIsAdoptedAsAnOldOne(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	d := newDeployment("web", 2)
	orphan := newReplicaSet("web", 2)
	orphan.Name = "orphan"
	orphan.Spec.Template.Spec.Containers[0].Image = "web:0"
	s.createReplicaSet(orphan)
	s.until("its two Pods", func(st *story) string { return wrongPods(st, 2) })

	d = s.create(d)
	st := s.complete("web")
	if rs := st.replicaSets.now["orphan"]; !metav1.IsControlledBy(rs, d) || *rs.Spec.Replicas != 0 {
		t.Errorf("the orphan ReplicaSet has the owners %v and size %d, want it adopted and of size 0", rs.OwnerReferences, *rs.Spec.Replicas)
	}
	s.until("its Pods to be gone", func(st *story) string { return wrongPods(st, 2) })
	s.wantPodCreates(4)
}

func TestAReplicaSetThatStopsMatchingIsReleased(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1))
	s.complete("web")
	s.kubectl("label", "replicaset/"+webReplicaSet, "app=other", "--overwrite")
	st := s.until("the ReplicaSet to be nobody's", func(st *story) string {
		if metav1.GetControllerOf(st.replicaSets.now[webReplicaSet]) != nil {
			return "it still has an owner"
		}
		return ""
	})
	if got := *st.replicaSets.now[webReplicaSet].Spec.Replicas; got != 1 {
		t.Errorf("the released ReplicaSet has size %d, want it left alone at 1", got)
	}
}
