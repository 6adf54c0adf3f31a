package e2e

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

func TestRecreateWaitsForTheLastOldPod(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.Recreate(), lab.Held()))
	old := s.Complete("web").Pods.Present()
	alone := s.Recorder.Enforce("no new Pod beside an old one", func(st *lab.Story) error {
		images := map[string]bool{}
		for _, pod := range st.Pods.Present() {
			images[pod.Spec.Containers[0].Image] = true
		}
		if len(images) > 1 {
			return errors.New("Pods of both templates exist")
		}
		return nil
	})

	s.Edit("web", lab.Image("web:2"), func(d *appsv1.Deployment) { d.Spec.Template.Finalizers = nil })
	s.Until("all old Pods to be Terminating", lab.StillWanted)
	for i, pod := range old {
		s.wantNoNewReplicaSet(int32(i))
		s.release(pod.Name)
	}
	st := s.Complete("web") // nothing but the last Pod's going can have woken the Deployment
	if rs := st.WithImage("web:2"); lab.RevisionOf(rs) != 2 || *rs.Spec.Replicas != 3 {
		t.Errorf("the new ReplicaSet has revision %d and size %d, want 2 and 3", lab.RevisionOf(rs), *rs.Spec.Replicas)
	}
	if err := s.Recorder.Repeal(alone); err != nil {
		t.Error(err)
	}
	s.UntilEvents("Deployment",
		"deployment-controller Normal ScalingReplicaSet: Scaled down replica set "+st.WithImage("web:1").Name+" from 3 to 0",
		"deployment-controller Normal ScalingReplicaSet: Scaled up replica set "+st.WithImage("web:2").Name+" from 0 to 3")
	s.WantPodCreates(6)
}

// wantNoNewReplicaSet checks that the Deployment was looked at, in its present state,
// and that its new ReplicaSet was not created then. It changes a setting that plays no
// part, another one each time, so that there is something to observe.
func (s *space) wantNoNewReplicaSet(setting int32) {
	s.T.Helper()
	s.Edit("web", lab.HistoryLimit(20+setting))
	st := s.UntilObserved()
	if st.WithImage("web:2") != nil {
		s.T.Errorf("the new ReplicaSet exists beside old Pods")
	}
	if updated := st.Deployments.Now["web"].Status.UpdatedReplicas; updated != 0 {
		s.T.Errorf("the status counts %d updated Pods, want 0", updated)
	}
}

// release lets a Pod go that was held by its finalizer.
func (s *space) release(name string) {
	s.T.Helper()
	s.PatchPod(name, `{"metadata":{"finalizers":null}}`)
	s.Until("Pod "+name+" to be gone", func(st *lab.Story) string {
		if st.Pods.Now[name] != nil {
			return "it is still there"
		}
		return ""
	})
}

func TestRecreateReplacesAPodOutsideARolloutAtOnce(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
	victim := s.Complete("web").Pods.Present()[0].Name
	s.DeletePod(victim)
	s.Until("a third Pod beside the Terminating one", func(st *lab.Story) string { return lab.WrongPods(st, 3) })
	s.Complete("web")
	s.release(victim)
	s.WantPodCreates(3)
}
