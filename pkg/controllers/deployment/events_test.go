package deployment

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"controller-manager/pkg/controllers/telling"
	"controller-manager/pkg/controllers/worker"
)

func TestWhichStepsAreOne(t *testing.T) {
	up := step{"web-a", 3, 5}
	tests := map[string]struct {
		next step
		sum  step
		one  bool
	}{
		"the next one in the same direction": {step{"web-a", 5, 9}, step{"web-a", 3, 9}, true},
		"one in the other direction":         {step{"web-a", 5, 4}, step{}, false},
		"one of another ReplicaSet":          {step{"web-b", 5, 9}, step{}, false},
		"one after somebody else's":          {step{"web-a", 7, 9}, step{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sum, one := up.then(test.next)
			if one != test.one || one && sum != test.sum {
				t.Errorf("got %v, %v, want %v, %v", sum, one, test.sum, test.one)
			}
		})
	}
}

// TestEveryStepIsTold: of the 200 steps in which 100 Pods are replaced one by one, and after which
// the Deployment is looked at again for those that were kept.
func TestEveryStepIsTold(t *testing.T) {
	const size = 100
	d := deployment(func(d *appsv1.Deployment) { d.Spec.Paused = true }) // a sync has nothing to do
	l := newLoop(t, d)
	wall := clocktesting.NewFakePassiveClock(now)
	l.Controller.clock = wall
	want := []string{}
	for n := range int64(size) {
		l.stepped(d, step{"web-v2", n, n + 1})
		l.stepped(d, step{"web-v1", size - n, size - n - 1})
		if n < telling.Singles/2 {
			want = append(want, fmt.Sprintf("Normal ScalingReplicaSet Scaled up replica set web-v2 from %d to %d", n, n+1),
				fmt.Sprintf("Normal ScalingReplicaSet Scaled down replica set web-v1 from %d to %d", size-n, size-n-1))
		}
	}
	if diff := cmp.Diff(want, l.told()); diff != "" {
		t.Errorf("told one by one (-want +got):\n%s", diff)
	}
	if left, err := l.turn(t.Context(), keyOf(d)); err != nil || left != time.Second {
		t.Errorf("looks again after %s (%v), want a second, for what is left to tell", left, err)
	}
	wall.SetTime(now.Add(time.Second))
	if _, err := l.turn(t.Context(), keyOf(d)); err != nil && !errors.Is(err, worker.ErrPutOff) {
		t.Error(err)
	}
	want = []string{
		"Normal ScalingReplicaSet Scaled up replica set web-v2 from 13 to 100",
		"Normal ScalingReplicaSet Scaled down replica set web-v1 from 87 to 0",
	}
	if diff := cmp.Diff(want, l.told()); diff != "" {
		t.Errorf("told together (-want +got):\n%s", diff)
	}
}
