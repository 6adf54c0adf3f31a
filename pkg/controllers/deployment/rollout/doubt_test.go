package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// collided gives a Deployment so many collisions.
func collided(n int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Status.CollisionCount = &n }
}

// changedOnItsWay is a ReplicaSet of so many available Pods that was made for the Deployment's
// template, with so many collisions then, and has another one.
func changedOnItsWay(d *appsv1.Deployment, collisions int32, ago time.Duration, pods int32) *appsv1.ReplicaSet {
	made := *d
	made.Status.CollisionCount = nil
	if collisions > 0 {
		made.Status.CollisionCount = &collisions
	}
	rs := replicaSet("v2", pods, pods, sizedFor(10, 13))
	rs.Name = newReplicaSet(&made).Name
	rs.UID = "uid-" + rs.UID
	rs.CreationTimestamp = metav1.NewTime(now.Add(-ago))
	rs.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "ADDED"}}
	return rs
}

func TestWhatComesOutChangedIsNotMadeAgainAtOnce(t *testing.T) {
	type want struct {
		wait   time.Duration
		probe  bool
		blind  bool
		create bool
	}
	type one struct {
		collisions int32
		ago        time.Duration
	}
	tests := map[string]struct {
		collisions int32
		made       []one
		want       want
	}{
		"it was made a moment ago":                       {0, []one{{0, 20 * time.Second}}, want{wait: 40 * time.Second}},
		"a minute ago":                                   {0, []one{{0, minute}}, want{probe: true, blind: true}},
		"a new name is free, as a try has shown":         {1, []one{{0, minute}}, want{create: true}},
		"a new name is free, and too soon":               {1, []one{{0, 59 * time.Second}}, want{wait: time.Second}},
		"the second, too soon to go on blindly":          {1, []one{{0, hour}, {1, 119 * time.Second}}, want{probe: true}},
		"the second, late enough to":                     {1, []one{{0, hour}, {1, 2 * minute}}, want{probe: true, blind: true}},
		"the third, too soon":                            {2, []one{{0, hour}, {1, hour}, {2, 239 * time.Second}}, want{probe: true}},
		"a clock that is behind a little":                {0, []one{{0, -time.Second}}, want{wait: 61 * time.Second}},
		"a clock that is behind by an hour":              {0, []one{{0, -hour}}, want{probe: true, blind: true}},
		"none was made for this template":                {0, nil, want{create: true}},
		"only one that is not among the last few counts": {30, []one{{1, time.Second}}, want{create: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment(10)
			if test.collisions > 0 {
				collided(test.collisions)(d)
			}
			sets := []*appsv1.ReplicaSet{replicaSet("v1", 10, 10, sizedFor(10, 13))}
			for _, made := range test.made {
				sets = append(sets, changedOnItsWay(d, made.collisions, made.ago, 0))
			}
			plan := decide(t, snapshot(d, sets...))
			got := want{wait: plan.LookAgain, probe: plan.Probe != nil, blind: plan.Probe != nil && plan.Probe.Blind, create: plan.Create != nil}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("plan (-want +got):\n%s\n%s", diff, plan.Note)
			}
			if !got.create && len(plan.Change) > 0 {
				t.Errorf("it resizes %v meanwhile", sizes(plan))
			}
		})
	}
}

func TestTheLongestWaitForABlindTryIsAnHour(t *testing.T) {
	d := deployment(10, collided(30))
	var sets []*appsv1.ReplicaSet
	for n := range int32(30) {
		sets = append(sets, changedOnItsWay(d, n, 100*time.Hour, 0))
	}
	for blind, ago := range map[bool]time.Duration{false: hour - time.Second, true: hour} {
		plan := decide(t, snapshot(d, append(sets[:30:30], changedOnItsWay(d, 30, ago, 0))...))
		if plan.Probe == nil || plan.Probe.Blind != blind {
			t.Errorf("%s after the last one: %+v", ago, plan.Probe)
		}
	}
}

func TestWhatIsTriedHasTheNextName(t *testing.T) {
	d := deployment(10, collided(1))
	plan := decide(t, snapshot(d, replicaSet("v1", 10, 10, sizedFor(10, 13)), changedOnItsWay(d, 1, hour, 3)))
	next := deployment(10, collided(2))
	if got, want := plan.Probe.ReplicaSet.Name, newReplicaSet(next).Name; got != want || *plan.Probe.ReplicaSet.Spec.Replicas != 10 {
		t.Errorf("it tries %s, want %s", got, want)
	}
	if *d.Status.CollisionCount != 1 {
		t.Error("the Deployment in the cache was changed")
	}
}

func TestRecreateStopsNothingForWhatWouldComeOutChanged(t *testing.T) {
	d := deployment(3, recreate)
	former := changedOnItsWay(d, 0, hour, 3)
	sizedFor(3, 3)(former)
	if plan := decide(t, snapshot(d, former)); plan.Probe == nil || len(plan.Change) > 0 {
		t.Errorf("plan: %s, %v", plan.Note, sizes(plan))
	}
	collided(1)(d)
	if got := sizes(decide(t, snapshot(d, former))); !cmp.Equal(got, []string{former.Name + " 3→0"}) {
		t.Errorf("once it would come out as sent: %v", got)
	}
}

func TestADeadlineSaysThatTheTemplateIsChanged(t *testing.T) {
	d := deployment(10, limited(59), reported(10, 0, 10, progressing(isTrue, ReasonUpdated, "", hour, minute)))
	former := changedOnItsWay(d, 0, 30*time.Second, 10)
	s := snapshot(d, former)
	report := Status(s, decide(t, s), Outcome{})
	if got := find(report.Status.Conditions, appsv1.DeploymentProgressing).Message; !strings.Contains(got, former.Name) || report.LookAgain != 30*time.Second {
		t.Errorf("says %q, looks again after %s", got, report.LookAgain)
	}
}

func TestWhatAdmissionHasChanged(t *testing.T) {
	d := deployment(1)
	tests := map[string]struct {
		change func(*appsv1.ReplicaSet)
		want   []string
	}{
		"nothing":                       {func(*appsv1.ReplicaSet) {}, nil},
		"the hash label of Pods":        {func(rs *appsv1.ReplicaSet) { delete(rs.Spec.Template.Labels, hashLabel) }, nil},
		"a label more":                  {func(rs *appsv1.ReplicaSet) { rs.Labels["team"] = "a" }, nil},
		"the label that it is found by": {func(rs *appsv1.ReplicaSet) { rs.Labels["app"] = "other" }, []string{"metadata.labels.app"}},
		"nothing that has a meaning":    {func(rs *appsv1.ReplicaSet) { rs.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{} }, nil},
		"a variable":                    {func(rs *appsv1.ReplicaSet) { rs.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}} }, []string{"spec.template.spec.containers[0].env"}},
		"several things": {func(rs *appsv1.ReplicaSet) {
			rs.Spec.Template.Annotations = map[string]string{"scan": "yes"}
			rs.Spec.Template.Spec.HostNetwork = true
			rs.Spec.Template.Spec.Containers[0].Image = "mirror/v2"
		}, []string{"spec.template.metadata.annotations", "spec.template.spec.containers[0].image", "spec.template.spec.hostNetwork"}},
		"another container": {func(rs *appsv1.ReplicaSet) {
			rs.Spec.Template.Spec.Containers = append(rs.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar"})
		}, []string{"spec.template.spec.containers"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sent, answered := newReplicaSet(d), newReplicaSet(d)
			test.change(answered)
			if diff := cmp.Diff(test.want, Changes(d, sent, answered)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
