package rollout

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNamesOfAnyLengthCanBeUsed(t *testing.T) {
	for _, pattern := range []string{"n", "a.", "b-c.", "1"} {
		for length := 1; length <= validation.DNS1123SubdomainMaxLength; length++ {
			deployment := strings.TrimRight(strings.Repeat(pattern, length)[:length], ".-")
			for _, hash := range []string{"6", "6d4b75cb6d"} {
				name := replicaSetName(deployment, hash)
				if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
					t.Errorf("a Deployment %q gives the ReplicaSet %q: %v", deployment, name, problems)
				}
			}
		}
	}
}

// TestExtremesStayWithinWhatTheAPITakes runs rollouts of every odd size, bound and annotation to
// their end, with kubelets that are as fast as light. Whatever is decided on the way must
// be something that the API server takes, and within the surge.
func TestExtremesStayWithinWhatTheAPITakes(t *testing.T) {
	sizes := []any{nil, 0, 1, 3, math.MaxInt32 - 1, math.MaxInt32}
	posts := []any{nil, 0, 1, math.MaxInt32, "0%", "1%", "100%"}
	garbage := []any{"", "-1", "2147483648", "9223372036854775808", "NaN", math.MaxInt32}
	for _, wanted := range sizes {
		for _, had := range sizes {
			for i, surge := range posts {
				for j, unavailable := range posts {
					name := fmt.Sprintf("from %v to %v with surge %v, unavailable %v", had, wanted, surge, unavailable)
					odd := garbage[(i+j)%len(garbage)]
					t.Run(name, func(t *testing.T) { rollExtreme(t, wanted, had, bounds(surge, unavailable), odd) })
				}
			}
		}
	}
}

// rollExtreme rolls from one ReplicaSet, as it was made for another size and with odd
// annotations, until there is nothing left to do.
func rollExtreme(t *testing.T, wanted, had any, bounds func(*appsv1.Deployment), odd any) {
	t.Helper()
	d := deployment(0, bounds)
	d.Spec.Replicas = optional(wanted)
	sets := []*appsv1.ReplicaSet{replicaSet("v1", 0, 0, sizedFor(odd, odd), rsAnnotated(RevisionAnnotation, fmt.Sprint(odd)))}
	sets[0].Spec.Replicas = optional(had)
	run(sets[0])
	fences, err := resolveFenceposts(d)
	if err != nil {
		t.Fatal(err)
	}
	want := replicas(d.Spec.Replicas)
	// One Pod at a time would take for ever with sizes like these; then a look at the first
	// steps must do.
	enough := 20
	if step := max(fences.surge, fences.unavailable); step >= want/100 {
		enough = 500
	}
	for range enough {
		s := snapshot(d, sets...)
		most := max(sum(sets, size), want+fences.surge)
		plan := decide(t, s)
		sets = carryOut(t, sets, plan)
		if total := sum(sets, size); total > most {
			t.Fatalf("%d Pods are asked for, and %d were the most: %+v", total, most, plan)
		}
		wantSoundStatus(t, Status(snapshot(d, sets...), plan, Outcome{}))
		if plan.Empty() {
			break
		}
	}
	if enough > 20 && (size(sets[len(sets)-1]) != want || sum(sets, size) != want) {
		t.Errorf("it ends with %d Pods of the new template and %d in all, want %d", size(sets[len(sets)-1]), sum(sets, size), want)
	}
}

// carryOut returns the ReplicaSets after a plan, with all their Pods running.
func carryOut(t *testing.T, sets []*appsv1.ReplicaSet, plan Plan) []*appsv1.ReplicaSet {
	t.Helper()
	for _, change := range plan.Change {
		for i, rs := range sets {
			if rs == change.Observed {
				sets[i] = run(change.Desired)
			}
		}
	}
	if plan.Create != nil {
		made := plan.Create.ReplicaSet
		made.CreationTimestamp = metav1.NewTime(now)
		sets = append(sets, run(made))
	}
	for _, rs := range sets {
		if size(rs) < 0 || size(rs) > math.MaxInt32 {
			t.Fatalf("ReplicaSet %s has the size %d", rs.Name, size(rs))
		}
	}
	return sets
}

// run gives a ReplicaSet all the Pods that it wants.
func run(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	count := int32(size(rs))
	rs.Status.Replicas, rs.Status.ReadyReplicas, rs.Status.AvailableReplicas = count, count, count
	return rs
}

func optional(n any) *int32 {
	if n == nil {
		return nil
	}
	size := int32(n.(int))
	return &size
}

func wantSoundStatus(t *testing.T, report Report) {
	t.Helper()
	status := report.Status
	for what, count := range map[string]int32{
		"replicas": status.Replicas, "updated": status.UpdatedReplicas, "ready": status.ReadyReplicas,
		"available": status.AvailableReplicas, "unavailable": status.UnavailableReplicas,
	} {
		if count < 0 {
			t.Fatalf("the API server would refuse %d for %s", count, what)
		}
	}
	if report.LookAgain < 0 {
		t.Fatalf("it looks again after %s", report.LookAgain)
	}
}

// TestFencepostsThatAreNoNumbersAreAnError has values that the API server refuses nowadays.
func TestFencepostsThatAreNoNumbersAreAnError(t *testing.T) {
	for _, post := range []string{"", "x", "%", "1.5%", "99999999999999999999%"} {
		if plan, err := Decide(snapshot(deployment(3, bounds(post, 1)))); err == nil || !strings.Contains(err.Error(), "maxSurge") {
			t.Errorf("maxSurge %q: plan %+v, error %v", post, plan, err)
		}
		if plan, err := Decide(snapshot(deployment(3, bounds(1, post)))); err == nil || !strings.Contains(err.Error(), "maxUnavailable") {
			t.Errorf("maxUnavailable %q: plan %+v, error %v", post, plan, err)
		}
	}
}

// TestClocksThatAreWrongByAnHour has conditions that were written by a process whose clock was
// an hour ahead, or behind.
func TestClocksThatAreWrongByAnHour(t *testing.T) {
	sets := []*appsv1.ReplicaSet{replicaSet("v1", 8, 8, sizedFor(10, 13)), replicaSet("v2", 5, 1, sizedFor(10, 13))}
	updated := func(ago time.Duration) appsv1.DeploymentCondition {
		return progressing(isTrue, ReasonUpdated, `ReplicaSet "web-v2" is progressing.`, ago, ago)
	}
	tests := map[string]struct {
		written   time.Duration
		status    corev1.ConditionStatus
		lookAgain time.Duration
	}{
		"ahead: the deadline passes an hour later, and there is one timer": {-hour, isTrue, hour + 601*time.Second},
		"behind: the deadline has passed":                                  {hour, isFalse, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(deployment(10, reported(13, 5, 9, updated(test.written))), sets...)
			report := Status(s, decide(t, s), Outcome{})
			if got := find(report.Status.Conditions, appsv1.DeploymentProgressing).Status; got != test.status || report.LookAgain != test.lookAgain {
				t.Errorf("Progressing is %s and it looks again after %s, want %s and %s", got, report.LookAgain, test.status, test.lookAgain)
			}
			// Any progress brings the times back to our own clock.
			moved := snapshot(deployment(10, reported(13, 5, 8, updated(test.written))), sets...)
			after := Status(moved, decide(t, moved), Outcome{})
			if got := find(after.Status.Conditions, appsv1.DeploymentProgressing).LastUpdateTime; !got.Time.Equal(now) {
				t.Errorf("after progress the condition is of %s, want %s", got, now)
			}
		})
	}
}
