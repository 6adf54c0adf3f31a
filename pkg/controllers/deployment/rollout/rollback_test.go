package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
)

func TestRollback(t *testing.T) {
	sets := func(three string) []*appsv1.ReplicaSet {
		return []*appsv1.ReplicaSet{
			replicaSet("v1", 0, 0, rsAnnotated("change-cause", "one"), rsAnnotated(RevisionHistoryAnnotation, "0")),
			replicaSet("v3", 0, 0, rsAnnotated(RevisionAnnotation, three), rsAnnotated("change-cause", "three")),
			replicaSet("v2", 1, 1, rsAnnotated(RevisionAnnotation, "4"), rsAnnotated("change-cause", "two")),
		}
	}
	tests := map[string]struct {
		ask, image, cause string
		outcome           RollbackOutcome
		revision          int64
	}{
		"to a revision":                        {"1", "v1", "one", RolledBack, 1},
		"to the last one":                      {"0", "v3", "three", RolledBack, 3},
		"to one that does not exist":           {"7", "v2", "two", RevisionNotFound, 0},
		"to the one that is current":           {"4", "v2", "two", TemplateUnchanged, 0},
		"to one that no ReplicaSet can carry":  {"-1", "v2", "two", RevisionNotFound, 0},
		"garbage asks for nothing":             {"last", "", "", 0, 0},
		"an empty annotation asks for nothing": {"", "", "", 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment(1, annotated(RollbackAnnotation, test.ask), annotated("change-cause", "two"), annotated(RevisionAnnotation, "4"))
			if test.outcome == RolledBack {
				d.Annotations["of"] = "the present template only"
			}
			plan := decide(t, snapshot(d, sets("3")...))
			if test.image == "" {
				if plan.Rollback != nil {
					t.Errorf("rollback %+v", plan.Rollback)
				}
				return
			}
			got := plan.Rollback
			if got == nil || got.Outcome != test.outcome || got.Revision != test.revision {
				t.Fatalf("rollback %+v", got)
			}
			want := map[string]string{"change-cause": test.cause, RevisionAnnotation: "4"}
			if diff := cmp.Diff(want, got.Desired.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(template(test.image), got.Desired.Spec.Template); diff != "" {
				t.Errorf("template (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("to the last one, of a template that was never rolled out", func(t *testing.T) {
		plan := decide(t, snapshot(deployment(1, image("v4"), annotated(RollbackAnnotation, "0")), sets("3")...))
		if plan.Rollback == nil || plan.Rollback.Revision != 4 {
			t.Errorf("rollback %+v", plan.Rollback)
		}
	})
	t.Run("to the last one, of a template that is current again and not yet numbered so", func(t *testing.T) {
		plan := decide(t, snapshot(deployment(1, image("v1"), annotated(RollbackAnnotation, "0")), sets("3")...))
		if plan.Rollback == nil || plan.Rollback.Revision != 4 {
			t.Errorf("rollback %+v", plan.Rollback)
		}
	})
	t.Run("of two with the same revision the old one is meant", func(t *testing.T) {
		plan := decide(t, snapshot(deployment(1, annotated(RollbackAnnotation, "4")), sets("4")...))
		if plan.Rollback == nil || plan.Rollback.Outcome != RolledBack || plan.Rollback.Desired.Spec.Template.Spec.Containers[0].Image != "v3" {
			t.Errorf("rollback %+v", plan.Rollback)
		}
	})
	t.Run("without a last revision", func(t *testing.T) {
		plan := decide(t, snapshot(deployment(1, annotated(RollbackAnnotation, "0")), replicaSet("v2", 1, 1)))
		if plan.Rollback == nil || plan.Rollback.Outcome != NoLastRevision {
			t.Errorf("plan %+v", plan)
		}
	})
}
