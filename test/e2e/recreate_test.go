package e2e

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestRecreateWaitsForTheLastOldPod(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3, recreate(), held()))
	old := s.complete("web").pods.present()
	alone := s.recorder.enforce("no new Pod beside an old one", func(st *story) error {
		images := map[string]bool{}
		for _, pod := range st.pods.present() {
			images[pod.Spec.Containers[0].Image] = true
		}
		if len(images) > 1 {
			return errors.New("Pods of both templates exist")
		}
		return nil
	})

	s.edit("web", image("web:2"), func(d *appsv1.Deployment) { d.Spec.Template.Finalizers = nil })
	s.until("all old Pods to be Terminating", stillWanted)
	for i, pod := range old {
		s.wantNoNewReplicaSet(int32(i))
		s.release(pod.Name)
	}
	st := s.complete("web") // nothing but the last Pod's going can have woken the Deployment
	if rs := st.withImage("web:2"); revisionOf(rs) != 2 || *rs.Spec.Replicas != 3 {
		t.Errorf("the new ReplicaSet has revision %d and size %d, want 2 and 3", revisionOf(rs), *rs.Spec.Replicas)
	}
	if err := s.recorder.repeal(alone); err != nil {
		t.Error(err)
	}
	s.untilEvents("Deployment",
		"deployment-controller Normal ScalingReplicaSet: Scaled down replica set "+st.withImage("web:1").Name+" from 3 to 0",
		"deployment-controller Normal ScalingReplicaSet: Scaled up replica set "+st.withImage("web:2").Name+" from 0 to 3")
	s.wantPodCreates(6)
}

// wantNoNewReplicaSet checks that the Deployment was looked at, in its present state,
// and that its new ReplicaSet was not created then. It changes a setting that plays no
// part, another one each time, so that there is something to observe.
func (s *space) wantNoNewReplicaSet(setting int32) {
	s.t.Helper()
	s.edit("web", historyLimit(20+setting))
	st := s.untilObserved()
	if st.withImage("web:2") != nil {
		s.t.Errorf("the new ReplicaSet exists beside old Pods")
	}
	if updated := st.deployments.now["web"].Status.UpdatedReplicas; updated != 0 {
		s.t.Errorf("the status counts %d updated Pods, want 0", updated)
	}
}

// release lets a Pod go that was held by its finalizer.
func (s *space) release(name string) {
	s.t.Helper()
	s.patchPod(name, `{"metadata":{"finalizers":null}}`)
	s.until("Pod "+name+" to be gone", func(st *story) string {
		if st.pods.now[name] != nil {
			return "it is still there"
		}
		return ""
	})
}

func TestRecreateReplacesAPodOutsideARolloutAtOnce(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 2, recreate(), held()))
	victim := s.complete("web").pods.present()[0].Name
	s.deletePod(victim)
	s.until("a third Pod beside the Terminating one", func(st *story) string { return wrongPods(st, 3) })
	s.complete("web")
	s.release(victim)
	s.wantPodCreates(3)
}
