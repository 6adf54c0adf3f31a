package replicaset

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"
)

func TestNothingIsRememberedOnceAllIsSeen(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 3), newTestPod("a"), newTestPod("b"), newTestPod("c"))
	l.settle()
	l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 5 })
	l.settle()
	l.syncWeb()
	if got := len(l.inflight.requests); got > 0 {
		t.Errorf("requests of %d ReplicaSets are remembered, want none", got)
	}
}

func TestOpenNamesAreUsedFirst(t *testing.T) {
	rs := newReplicaSet(3, 0)
	f := newInflight(cache.NewStore(cache.MetaNamespaceKeyFunc))
	f.creating(rs, "web-1")
	f.creating(rs, "web-2")
	f.creating(rs, "web-1") // sent again
	if f.awaits(web) {
		t.Error("an open name counts as a delete to wait for")
	}
	names := f.names(rs, 3)
	if diff := cmp.Diff([]string{"web-1", "web-2"}, names[:2]); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if len(names) != 3 || names[2] == "web-1" || names[2] == "web-2" {
		t.Errorf("names = %v, want a third one that is new", names)
	}
	if diff := cmp.Diff([]string{"web-1"}, f.names(rs, 1)); diff != "" {
		t.Errorf("one name (-want +got):\n%s", diff)
	}
	f.taken(rs, "web-1")
	if diff := cmp.Diff([]string{"web-2"}, f.names(rs, 1)); diff != "" {
		t.Errorf("one name after the first is taken (-want +got):\n%s", diff)
	}
	another := newReplicaSet(3, 0, func(rs *appsv1.ReplicaSet) { rs.UID = "another" })
	if names := f.names(another, 1); names[0] == "web-2" {
		t.Error("another ReplicaSet of the same name inherits the open names")
	}
}

func TestDeletesToRepeatAreInAFixedOrder(t *testing.T) {
	rs := newReplicaSet(0, 0)
	f := newInflight(cache.NewStore(cache.MetaNamespaceKeyFunc))
	var want []string
	for i := range 20 {
		pod := newTestPod(fmt.Sprintf("pod-%02d", i))
		f.deleting(rs, pod)
		if i%2 == 0 {
			f.unanswered(rs, pod)
			want = append(want, pod.Name)
		}
	}
	var got []string
	for _, pod := range f.deletesToRepeat(rs, testNow) {
		got = append(got, pod.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deletes to repeat (-want +got):\n%s", diff)
	}
}
