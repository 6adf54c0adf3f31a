package deployment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/worker"
)

// changedBefore is a ReplicaSet that was made for the template an hour ago and has another one.
func changedBefore() *appsv1.ReplicaSet {
	return replicaSet("v2", 3, func(rs *appsv1.ReplicaSet) {
		rs.Name = newName
		rs.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
		rs.Spec.Template.Spec.HostNetwork = true
	})
}

// admission lets each create of a ReplicaSet be answered as the function says. Nothing comes of a
// dry run.
func (l *loop) admission(change func(*appsv1.ReplicaSet) error) (dryRuns, creates *int) {
	dryRuns, creates = new(int), new(int)
	l.server.PrependReactor("create", "replicasets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create := action.(clienttesting.CreateActionImpl)
		rs := create.Object.(*appsv1.ReplicaSet).DeepCopy()
		if err := change(rs); err != nil {
			*dryRuns++
			return true, nil, err
		}
		if len(create.CreateOptions.DryRun) > 0 {
			*dryRuns++
			return true, rs, nil
		}
		*creates++
		create.Object = rs
		return l.answer(create)
	})
	return dryRuns, creates
}

func hostNetwork(rs *appsv1.ReplicaSet) error {
	rs.Spec.Template.Spec.HostNetwork = true
	return nil
}

const changedEvent = `Warning TemplateChanged An admission webhook or policy changes spec.template.spec.hostNetwork of replica set "` + newName +
	`", which cannot be used like that: exempt replica sets from it, or make the same change in the deployment`

func TestATemplateThatComesOutChangedIsToldAtOnce(t *testing.T) {
	l := newLoop(t, deployment())
	_, creates := l.admission(hostNetwork)
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	told := l.told()
	if *creates != 1 || len(told) != 2 || told[0] != changedEvent {
		t.Errorf("%d creates, events %v", *creates, told)
	}
}

func TestATemplateThatWouldComeOutChangedIsTriedOnceAMinute(t *testing.T) {
	l := newLoop(t, deployment(), changedBefore())
	dryRuns, creates := l.admission(hostNetwork)
	for range 3 {
		if lookAgain, err := l.run(); err != nil || lookAgain != time.Minute {
			t.Errorf("looks again after %s, %v", lookAgain, err)
		}
		l.show(l.written())
	}
	if diff := cmp.Diff([]string{changedEvent}, l.told()); diff != "" || *dryRuns != 1 || *creates != 0 {
		t.Errorf("%d dry runs, %d creates, events (-want +got):\n%s", *dryRuns, *creates, diff)
	}
	l.clock.(*clocktesting.FakePassiveClock).SetTime(now.Add(time.Minute))
	if _, err := l.run(); err != nil || *dryRuns != 2 || *creates != 0 {
		t.Errorf("a minute later: %d dry runs, %d creates, %v", *dryRuns, *creates, err)
	}
}

func TestWhatTheDryRunSays(t *testing.T) {
	unsupported := apierrors.NewBadRequest(`admission webhook "w" does not support dry run`)
	young := func(rs *appsv1.ReplicaSet) { rs.CreationTimestamp = metav1.NewTime(now.Add(-90 * time.Second)) }
	tests := map[string]struct {
		answer     error
		before     []func(*appsv1.ReplicaSet)
		collisions int32
		fails      bool
		wait       time.Duration
	}{
		"it comes out as it is sent":                     {nil, nil, 1, false, 0},
		"it cannot be tried, and enough time has passed": {unsupported, nil, 1, false, 0},
		"it cannot be tried, and two were made":          {unsupported, []func(*appsv1.ReplicaSet){young}, 0, false, time.Minute},
		"the API server is busy":                         {apierrors.NewTooManyRequests("later", 1), nil, 0, true, 0},
		"nobody answers":                                 {errors.New("connection refused"), nil, 0, true, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, former := deployment(), changedBefore()
			sets := []runtime.Object{former}
			if len(test.before) > 0 {
				one := int32(1)
				d.Status.CollisionCount = &one
				plan, err := rollout.Decide(rollout.Snapshot{Deployment: d, Now: now})
				if err != nil {
					t.Fatal(err)
				}
				second := changedBefore()
				second.Name, second.UID = plan.Create.ReplicaSet.Name, "uid-second"
				test.before[0](second)
				sets = append(sets, second)
			}
			test.collisions += replicasOr(d.Status.CollisionCount)
			l := newLoop(t, append(sets, d)...)
			l.admission(func(*appsv1.ReplicaSet) error { return test.answer })
			lookAgain, err := l.run()
			if (err != nil) != test.fails || !test.fails && test.wait > 0 && lookAgain != test.wait {
				t.Errorf("looks again after %s, %v", lookAgain, err)
			}
			if got := replicasOr(l.written().Status.CollisionCount); got != test.collisions {
				t.Errorf("collisionCount %d, want %d", got, test.collisions)
			}
			if strings.Contains(strings.Join(l.writes(), " "), "patch") {
				t.Errorf("meanwhile nothing is scaled: %v", l.writes())
			}
		})
	}
}

func replicasOr(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// TestAReplicaSetThatWillNotBeFoundIsNotFollowedByOthersAtOnce: admission takes the label away by
// which the Deployment would find it, and so it is released.
func TestAReplicaSetThatWillNotBeFoundIsNotFollowedByOthersAtOnce(t *testing.T) {
	l := newLoop(t, deployment())
	_, creates := l.admission(func(rs *appsv1.ReplicaSet) error {
		delete(rs.Labels, "app")
		return nil
	})
	if _, err := l.run(); err != nil {
		t.Fatal(err)
	}
	d := l.written()
	one := int32(1)
	d.Status.CollisionCount = &one // the name is that of a stranger once it is released
	l.show(d)
	released := replicaSet("v2", 3, func(rs *appsv1.ReplicaSet) {
		rs.Name, rs.Labels, rs.OwnerReferences, rs.ResourceVersion = newName, nil, nil, d.ResourceVersion
	})
	l.show(released)
	for range 2 {
		if _, err := l.run(); err != worker.ErrPutOff { //nolint:errorlint // joined with anything, it counts as a failure
			t.Error(err)
		}
	}
	if *creates != 1 {
		t.Errorf("%d creates within a moment, want 1", *creates)
	}
}
