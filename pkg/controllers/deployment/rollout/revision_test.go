package rollout

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// TestUndoingBackAndForthForYears alternates two templates, as thousands of undos do, and
// annotates the Deployment each time. The past of a ReplicaSet must not grow until it can
// no longer be written: kubernetes#77387.
func TestUndoingBackAndForthForYears(t *testing.T) {
	const undos = 3000
	sets := []*appsv1.ReplicaSet{replicaSet("v1", 0, 0), replicaSet("v2", 0, 0)}
	step := func(image string, note int) {
		d := deployment(0, annotated("note", fmt.Sprint(note)), func(d *appsv1.Deployment) { d.Spec.Template = template(image) })
		for _, change := range decide(t, snapshot(d, sets...)).Change {
			for i, rs := range sets {
				if rs == change.Observed {
					sets[i] = change.Desired
				}
			}
		}
	}
	for i := range undos {
		image := []string{"v1", "v2"}[i%2]
		step(image, i)
		if got := revisionOf(sets[i%2]); got != int64(i+3) {
			t.Fatalf("undo %d made revision %d, want %d", i, got, i+3)
		}
		before := sets[i%2].Annotations[RevisionHistoryAnnotation]
		step(image, -i)
		if got := sets[i%2].Annotations; got[RevisionHistoryAnnotation] != before || got["note"] != fmt.Sprint(-i) {
			t.Fatalf("an annotation made the past %q of %q, and arrived as %q", got[RevisionHistoryAnnotation], before, got["note"])
		}
	}
	for i, last := range []string{",2997,2999", ",2998,3000"} {
		if history := sets[i].Annotations[RevisionHistoryAnnotation]; len(history) > 2000 || len(history) < 1990 || !strings.HasSuffix(history, last) {
			t.Errorf("the past has %d characters and ends in %q, want 2000 at the most and %s", len(history), history[len(history)-20:], last)
		}
	}
}

// TestADeploymentWithoutASizeIsOneOfOne: a cached object may lack what the API server fills in.
// kubernetes#25238.
func TestADeploymentWithoutASizeIsOneOfOne(t *testing.T) {
	d := deployment(7, func(d *appsv1.Deployment) { d.Spec.Replicas = nil })
	rs := replicaSet("v2", 3, 3, func(rs *appsv1.ReplicaSet) { rs.Spec.Replicas = nil })
	for _, s := range []Snapshot{snapshot(d), snapshot(d, rs), snapshot(d, replicaSet("v1", 3, 3), rs)} {
		plan := decide(t, s)
		if report := Status(s, plan, Outcome{}); plan.Create != nil && *plan.Create.ReplicaSet.Spec.Replicas != 1 || report.Status.UnavailableReplicas < 0 {
			t.Errorf("plan %+v, status %+v", plan, report.Status)
		}
	}
}
