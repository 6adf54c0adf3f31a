package e2e

import (
	"testing"

	"controller-manager/localcluster"
)

func TestNothingIsWrittenWhenThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 3))
	s.complete("web")
	s.edit("web", image("web:2"))
	pods := s.complete("web").podsOf(s.recorder.now().withImage("web:2"))
	s.untilWritten()

	mark := s.lab.mark(t)
	s.kubectl("annotate", "pod/"+pods[0].Name, "note=x")
	s.kubectl("label", "pod/"+pods[1].Name, "note=x")
	s.patchPod(pods[2].Name, `{"status":{"message":"x"}}`, "status")
	s.kubectl("label", "deployment/web", "note=x")
	s.untilWritten()
	s.wantNoWrites(mark)
}

// untilWritten waits until the controllers under test have done and written all that
// they had to do before: until they have carried out a rollout that was asked for later,
// and have written the events about it, which they write in order.
func (s *space) untilWritten() {
	s.t.Helper()
	untilAllIsWritten(s.t)
}

func untilAllIsWritten(t *testing.T) {
	t.Helper()
	later := newSpace(t)
	later.create(newDeployment("web", 1))
	later.complete("web")
	later.edit("web", image("web:2"))
	st := later.complete("web")
	later.untilEvents("Deployment", "deployment-controller Normal ScalingReplicaSet: Scaled down replica set "+webReplicaSet+" from 1 to 0")
	later.untilEvents("ReplicaSet", "replicaset-controller Normal SuccessfulDelete: Deleted pod: "+st.firstPod(webReplicaSet))
}

// firstPod is the name of the first Pod that was seen of a ReplicaSet.
func (st *story) firstPod(replicaSet string) string {
	for _, sighting := range st.pods.seen {
		if owners := sighting.object.OwnerReferences; len(owners) > 0 && owners[0].Name == replicaSet {
			return sighting.object.Name
		}
	}
	return ""
}

// wantNoWrites fails if the controllers under test have written anything in the namespace.
func (s *space) wantNoWrites(since localcluster.AuditMark) {
	s.t.Helper()
	for _, write := range s.writes(since) {
		s.t.Errorf("a write where there was nothing to do: %s", describe(write))
	}
}
