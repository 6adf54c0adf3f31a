package e2e

import (
	"fmt"
	"testing"

	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// TestEventsThatAreNotTakenHoldNothingUp: a thousand Pods are made while the API server takes no
// events. When it does again, they tell of all of them; and when it does not, the process
// ends in time all the same.
func TestEventsThatAreNotTakenHoldNothingUp(t *testing.T) {
	const size = 1000
	var events proxy.Gate
	b := theLab.Get(t).BehindProxy(t)
	for _, verb := range []string{"create", "patch"} {
		handle := b.Add(proxy.Rule{Match: proxy.Match{Verb: verb, Resource: "events"}, Action: proxy.HoldRequest(&events)})
		t.Cleanup(handle.Remove)
	}
	s := b.NewSpace(t)
	if s.NotOurs("its events have a limit and are lost beyond it") {
		return
	}
	t.Cleanup(events.Open)
	events.Shut()
	s.CreateReplicaSet(lab.NewReplicaSet("web", size))
	st := s.UntilReplicaSet("web", size)
	if told := st.PodsTold("web", lab.Created); told != 0 {
		t.Fatalf("%d Pods are told of: events were not held back, and nothing was tested", told)
	}
	events.Open()
	s.Until("events that tell of all Pods", func(st *lab.Story) string {
		if told := st.PodsTold("web", lab.Created); told != size {
			return fmt.Sprintf("they tell of %d of %d", told, size)
		}
		return ""
	})

	events.Shut()
	s.Kubectl("scale", "replicaset/web", "--replicas=0")
	s.UntilReplicaSet("web", 0)
	if err := b.Process.Stop(); err != nil { // one that does not end is killed, and that is an error
		t.Fatal(err)
	}
}
