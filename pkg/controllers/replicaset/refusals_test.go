package replicaset

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

// named gives a ReplicaSet another name.
func named(name string) func(*appsv1.ReplicaSet) {
	return func(rs *appsv1.ReplicaSet) { rs.Name, rs.UID = name, types.UID("uid-"+name) }
}

func TestWhoTriesAtOnceWhenThereMayBeRoom(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(testNow)
	r := &refusals{}
	a, b := newReplicaSet(1, 0, named("a")), newReplicaSet(1, 0, named("b"))
	elsewhere := newReplicaSet(1, 0, named("c"), func(rs *appsv1.ReplicaSet) { rs.Namespace = "elsewhere" })
	pass := func(d time.Duration) { clock.SetTime(clock.Now().Add(d)) }
	// refuse lets creates be refused so often that the next try is 25 seconds away.
	refuse := func(sets ...*appsv1.ReplicaSet) {
		for range 20 {
			for _, rs := range sets {
				r.refused(rs, clock)
			}
		}
	}
	refuse(a, b, elsewhere)
	goes := func(pods int) []string {
		var woken []string
		for range pods {
			if key, found := r.next("default", clock.Now()); found {
				woken = append(woken, key.Name)
			}
		}
		return woken
	}
	for _, step := range []struct {
		what string
		do   func()
		pods int
		want []string
	}{
		{"one Pod goes, and the one that waits longest tries", func() {}, 1, []string{"a"}},
		{"another goes, and that one is about to try", func() {}, 1, []string{"b"}},
		{"no third one waits", func() {}, 1, nil},
		{"it is refused, and waits behind the other one", func() { refuse(a, b); pass(roomTakes); refuse(a) }, 2, []string{"b", "a"}},
		{"more Pods go than may be noticed", func() { refuse(a, b); goes(2); refuse(a, b) }, 2, nil},
		{"a minute later", func() { pass(time.Minute); refuse(a, b) }, 9, []string{"a", "b"}},
		{"one of them can be created, and the other was woken a moment ago", func() { r.Forget(keyOf(a)); refuse(b) }, 1, nil},
		{"one that is refused anew starts anew", func() { refuse(a) }, 1, []string{"a"}},
		{"all can be created", func() { r.Forget(keyOf(a)); r.Forget(keyOf(b)); pass(time.Hour) }, 1, nil},
	} {
		step.do()
		if diff := cmp.Diff(step.want, goes(step.pods)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, diff)
		}
	}
	if r.Forget(keyOf(elsewhere)); len(r.waiting) > 0 {
		t.Errorf("%v are kept", r.waiting)
	}
}

func TestAPodThatGoesMakesRoomForOneThatWasRefused(t *testing.T) {
	tests := map[string]struct {
		befalls func(l *loop)
		makes   bool
	}{
		"it is deleted":         {func(l *loop) { l.removePod("another") }, true},
		"it runs to its end":    {func(l *loop) { l.editPod("another", failed) }, true},
		"its deletion is asked": {func(l *loop) { l.editPod("another", terminating) }, false},
		"it gets ready":         {func(l *loop) { l.editPod("another", func(*corev1.Pod) {}) }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 0), newTestPod("another", orphaned, relabeled))
			l.trouble = l.quotaOf(0)
			for range 20 {
				l.failWeb("exceeded quota")
				l.catchUp()
			}
			l.woken()
			before := l.refusals.Left(newReplicaSet(1, 0), l.clock.Now())
			test.befalls(l)
			l.catchUp()
			left := l.refusals.Left(newReplicaSet(1, 0), l.clock.Now())
			if made := left == roomTakes; made != test.makes || !made && left != before {
				t.Errorf("the next try is in %s, and was in %s", left, before)
			}
			if woken := l.woken(); slices.Contains(woken, "web") {
				t.Error("it is woken before the quota can have been counted anew")
			}
		})
	}
}

// TestRoomIsFoundWithinAMomentIfAPodHasMadeIt: on the way of the events, the queue and the workers.
func TestRoomIsFoundWithinAMomentIfAPodHasMadeIt(t *testing.T) {
	another := newTestPod("another", orphaned, relabeled)
	runLoop(t, []metav1.Object{newReplicaSet(1, 0), another}, func(l *loop) { l.trouble = l.quotaOf(1) }, func(_ *testing.T, l *loop, _ func()) {
		<-time.After(time.Minute)
		l.removePod("another")
		<-time.After(roomTakes + time.Millisecond)
		l.expectActive(1)
	})
}
