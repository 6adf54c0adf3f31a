package e2e

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

// TestABareMatchingPodIsAdoptedAndTheSurplusGoes: at once, not at a resync. kubernetes#32829.
func TestABareMatchingPodIsAdoptedAndTheSurplusGoes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	rs := s.Complete("web").ReplicaSets.Now[lab.WebReplicaSet]
	// It is worth more than the others, so that it is one of them that goes.
	s.CreatePod(withCost(bare("bare", nil), "100"))
	s.Until("the bare Pod to be ready", func(st *lab.Story) string {
		if pod := st.Pods.Now["bare"]; pod == nil || st.Available(0, pod.CreationTimestamp.Add(lab.Patience)) != 4 {
			return "it is not"
		}
		return ""
	})

	s.Kubectl("label", "pod/bare", "app=web", "pod-template-hash="+lab.WebHash)
	st := s.Until("the bare Pod to be adopted and another one to go", func(st *lab.Story) string {
		if !metav1.IsControlledBy(st.Pods.Now["bare"], rs) {
			return "it is not adopted"
		}
		return lab.WrongPods(st, 3)
	})
	want := *metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	if got := st.Pods.Now["bare"].OwnerReferences; len(got) != 1 || got[0].UID != want.UID || !*got[0].BlockOwnerDeletion {
		t.Errorf("the owners of the adopted Pod are %v, want %v", got, want)
	}
	s.Complete("web")
	s.WantPodCreates(3)
}

// TestAPodThatLosesItsLabelIsReleasedAndReplaced: kubernetes#32829.
func TestAPodThatLosesItsLabelIsReleasedAndReplaced(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2))
	before := s.Complete("web")
	released := before.Pods.Present()[0].Name
	s.Kubectl("label", "pod/"+released, "app-")
	s.Until("the Pod to be nobody's and a third one to exist", func(st *lab.Story) string {
		if metav1.GetControllerOf(st.Pods.Now[released]) != nil {
			return "it still has an owner"
		}
		return lab.WrongPods(st, 3)
	})
	s.Complete("web")
	s.Edit("web", lab.Replicas(0))
	s.Until("only the released Pod to be left", func(st *lab.Story) string { return lab.WrongPods(st, 1) })
	if s.Recorder.Now().Pods.Now[released] == nil {
		t.Errorf("the released Pod is gone")
	}
	s.WantPodCreates(3)
}

func TestAReplicaSetWithoutAnOwnerIsAdoptedAsAnOldOne(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	d := lab.NewDeployment("web", 2)
	orphan := lab.NewReplicaSet("web", 2)
	orphan.Name = "orphan"
	orphan.Spec.Template.Spec.Containers[0].Image = "web:0"
	s.CreateReplicaSet(orphan)
	s.Until("its two Pods", func(st *lab.Story) string { return lab.WrongPods(st, 2) })

	d = s.Create(d)
	st := s.Complete("web")
	if rs := st.ReplicaSets.Now["orphan"]; !metav1.IsControlledBy(rs, d) || *rs.Spec.Replicas != 0 {
		t.Errorf("the orphan ReplicaSet has the owners %v and size %d, want it adopted and of size 0", rs.OwnerReferences, *rs.Spec.Replicas)
	}
	s.Until("its Pods to be gone", func(st *lab.Story) string { return lab.WrongPods(st, 2) })
	s.WantPodCreates(4)
}

func TestAReplicaSetThatStopsMatchingIsReleased(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.Kubectl("label", "replicaset/"+lab.WebReplicaSet, "app=other", "--overwrite")
	st := s.Until("the ReplicaSet to be nobody's", func(st *lab.Story) string {
		if metav1.GetControllerOf(st.ReplicaSets.Now[lab.WebReplicaSet]) != nil {
			return "it still has an owner"
		}
		return ""
	})
	if got := *st.ReplicaSets.Now[lab.WebReplicaSet].Spec.Replicas; got != 1 {
		t.Errorf("the released ReplicaSet has size %d, want it left alone at 1", got)
	}
}
