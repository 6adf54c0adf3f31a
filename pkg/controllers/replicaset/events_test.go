package replicaset

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/pkg/controllers/telling"
)

// podsTold counts the events that are about one Pod, and returns the sums in the others.
func podsTold(t *testing.T, events []string, done string) (singles int, sums []int) {
	t.Helper()
	for _, event := range events {
		var count int
		if _, err := fmt.Sscanf(event, "Normal Successful"+done[:len(done)-1]+" "+done+" %d more pods", &count); err == nil {
			sums = append(sums, count)
			continue
		}
		singles++
	}
	return singles, sums
}

// TestEveryPodIsTold: of a thousand Pods some one by one, and the others in one sum, which is
// told by a sync that comes when its time has.
func TestEveryPodIsTold(t *testing.T) {
	const size = 1000
	rs := newReplicaSet(size, 0)
	l := newLoop(t, rs)
	turn := func() time.Duration {
		t.Helper()
		lookAgain, err := l.turn(t.Context(), web)
		if err != nil {
			t.Fatal(err)
		}
		return lookAgain
	}
	for range 3 {
		turn()
		l.catchUp()
	}
	l.expectActive(size)
	if left := turn(); left <= 0 || left > time.Second {
		t.Fatalf("looks again after %s, want within a second, for the sum", left)
	}
	singles, sums := podsTold(t, l.told(), "Created")
	if singles != telling.Singles || sums != nil {
		t.Errorf("%d events of one Pod and sums of %d before the burst is over, want %d and none", singles, sums, telling.Singles)
	}

	l.clock.SetTime(l.clock.Now().Add(time.Second))
	if left := turn(); left != 0 {
		t.Errorf("looks again after %s with nothing left to tell", left)
	}
	if diff := cmp.Diff([]string{"Normal SuccessfulCreate Created 974 more pods"}, l.told()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}

	l.storeReplicaSet(newReplicaSet(0, size))
	for range 3 {
		l.catchUp()
		turn()
	}
	l.expectActive(0)
	delete(l.server.replicaSets, web.String())
	l.catchUp()
	turn()
	singles, sums = podsTold(t, l.told(), "Deleted")
	if singles != telling.Singles || !cmp.Equal(sums, []int{size - telling.Singles}) {
		t.Errorf("%d events of one Pod and sums of %d when the ReplicaSet has gone, want %d and [%d]",
			singles, sums, telling.Singles, size-telling.Singles)
	}
}

// TestTheEndOfTheLoopTellsWhatIsLeft: before it returns.
func TestTheEndOfTheLoopTellsWhatIsLeft(t *testing.T) {
	const size = 100
	runLoop(t, []metav1.Object{newReplicaSet(size, 0)}, func(*loop) {}, func(t *testing.T, l *loop, stop func()) {
		stop()
		singles, sums := podsTold(t, l.told(), "Created")
		if singles != telling.Singles || !cmp.Equal(sums, []int{size - telling.Singles}) {
			t.Errorf("%d events of one Pod and sums of %d, want %d and [%d]", singles, sums, telling.Singles, size-telling.Singles)
		}
	})
}
