package rollout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestWhichReplicaSetIsTheNewOne(t *testing.T) {
	look := func(s Snapshot) string {
		v, err := look(s)
		if err != nil || v.new == nil {
			return fmt.Sprint("none ", err)
		}
		return v.new.Name
	}
	limits := func(quantity string) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) {
			rs.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse(quantity)}
		}
	}
	d := deployment(1)
	d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{}
	tests := map[string]struct {
		sets []*appsv1.ReplicaSet
		want string
	}{
		"none has the template":               {[]*appsv1.ReplicaSet{replicaSet("v1", 1, 1)}, "none <nil>"},
		"quantities and nil compare by sense": {[]*appsv1.ReplicaSet{replicaSet("v1", 1, 1), replicaSet("v2", 1, 1, limits("1000m"))}, "web-v2"},
		"of several the oldest": {[]*appsv1.ReplicaSet{
			replicaSet("v2", 1, 1, limits("1"), func(rs *appsv1.ReplicaSet) { rs.Name = "young" }),
			replicaSet("v2", 1, 1, limits("1"), func(rs *appsv1.ReplicaSet) {
				rs.Name, rs.CreationTimestamp = "old", replicaSet("v1", 1, 1).CreationTimestamp
			}),
		}, "old"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := look(snapshot(d, test.sets...)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestTheReplicaSetThatIsMade(t *testing.T) {
	d := deployment(3, annotated("team", "blue"), annotated(corev1.LastAppliedConfigAnnotation, "{}"),
		annotated(RevisionAnnotation, "4"), annotated(RevisionHistoryAnnotation, "1,2"), annotated(DesiredReplicasAnnotation, "8"),
		annotated(MaxReplicasAnnotation, "8"), annotated(RollbackAnnotation, "no number"))
	d.Spec.MinReadySeconds = 5
	d.Finalizers = []string{"foregroundDeletion"}
	rs := decide(t, snapshot(d, replicaSet("v1", 0, 0, rsAnnotated(RevisionAnnotation, "41")))).Create.ReplicaSet
	hash := rs.Labels[hashLabel]
	if rs.Name != "web-"+hash || rs.Namespace != "shop" || rs.GenerateName != "" || len(rs.Finalizers) != 0 {
		t.Errorf("metadata %+v", rs.ObjectMeta)
	}
	labels := map[string]string{"app": "web", hashLabel: hash}
	for where, got := range map[string]map[string]string{"labels": rs.Labels, "template": rs.Spec.Template.Labels, "selector": rs.Spec.Selector.MatchLabels} {
		if diff := cmp.Diff(labels, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", where, diff)
		}
	}
	want := map[string]string{"team": "blue", RevisionAnnotation: "42", DesiredReplicasAnnotation: "3", MaxReplicasAnnotation: "4"}
	if diff := cmp.Diff(want, rs.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	owner := rs.OwnerReferences[0]
	if owner.APIVersion != "apps/v1" || owner.Kind != "Deployment" || owner.UID != "d1" || !*owner.Controller || !*owner.BlockOwnerDeletion {
		t.Errorf("owner %+v", owner)
	}
	if rs.Spec.MinReadySeconds != 5 || *rs.Spec.Replicas != 3 {
		t.Errorf("spec %+v", rs.Spec)
	}
	if _, leaked := d.Spec.Selector.MatchLabels[hashLabel]; leaked || d.Spec.Template.Labels[hashLabel] != "" {
		t.Error("the Deployment was changed")
	}
}

func TestNamesAreCutToFit(t *testing.T) {
	hash := "6d4b75cb6d"
	for length, want := range map[int]int{1: 12, 242: 253, 243: 253, 253: 253} {
		name := replicaSetName(strings.Repeat("n", length), hash)
		if len(name) != want || !strings.HasSuffix(name, "-"+hash) {
			t.Errorf("a Deployment name of %d characters gives %d, want %d", length, len(name), want)
		}
	}
}

func TestNamesAreNotCutBehindADot(t *testing.T) {
	name := replicaSetName(strings.Repeat("a.", 126)+"b", "6d4b75cb6d")
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		t.Errorf("%s: %v", name, problems)
	}
}

func TestTheCollisionCountChangesTheName(t *testing.T) {
	zero, three := int32(0), int32(3)
	names := map[string]bool{}
	for _, collisions := range []*int32{nil, &zero, &three} {
		plain := template("v1")
		names[templateHash(&plain, collisions)] = true
	}
	if len(names) != 3 {
		t.Errorf("nil, 0 and 3 collisions give the names %v, want three", names)
	}
}

func TestRevisions(t *testing.T) {
	history := strings.Repeat("10,", 600) // 1,800 characters
	tests := map[string]struct {
		current, oldest  string // the annotations of the new and of an old ReplicaSet
		history          string
		want, wantMemory string
	}{
		"it is one more than any old one":               {"", "3", "", "4", ""},
		"it is raised when it comes back, and recalled": {"1", "3", "", "4", "1"},
		"it is never lowered":                           {"9", "3", "7", "9", "7"},
		"its past is kept in order":                     {"2", "5", "1", "6", "1,2"},
		"a revision that is no number counts as 0":      {"three", "x", "", "1", ""},
		"a negative one too":                            {"-5", "-1", "", "1", ""},
		"the oldest of a long past are dropped":         {"12345", "20000", history + history + "10", "20001", ""},
		"the last number there is stays":                {"1", "9223372036854775807", "", "9223372036854775807", "1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fresh := replicaSet("v2", 3, 3, sizedFor(3, 4), rsAnnotated(RevisionAnnotation, test.current), rsAnnotated(RevisionHistoryAnnotation, test.history))
			desired := fresh
			if plan := decide(t, snapshot(deployment(3), replicaSet("v1", 0, 0, rsAnnotated(RevisionAnnotation, test.oldest)), fresh)); len(plan.Change) > 0 {
				desired = plan.Change[0].Desired
			}
			memory := desired.Annotations[RevisionHistoryAnnotation]
			if desired.Annotations[RevisionAnnotation] != test.want {
				t.Errorf("revision %s, want %s", desired.Annotations[RevisionAnnotation], test.want)
			}
			if len(test.history) < 1000 && memory != test.wantMemory {
				t.Errorf("history %q, want %q", memory, test.wantMemory)
			}
			if len(memory) > 2000 || len(test.history) > 2000 && (len(memory) < 1990 || !strings.HasSuffix(memory, ",12345")) {
				t.Errorf("history of %d characters ends in %q", len(memory), memory[max(0, len(memory)-20):])
			}
		})
	}
	for length, want := range map[int]int{1998: 2000, 1999: 1} {
		if got := remember(strings.Repeat("9", length), 1); len(got) != want {
			t.Errorf("a history of %d characters and one more number become %d, want %d", length, len(got), want)
		}
	}
	if got := remember(strings.Repeat("9", 2001), 1); got != "1" {
		t.Errorf("a history of one number that is too long becomes %q, want the new one alone", got)
	}
}

func TestGarbageIsRemarkedOn(t *testing.T) {
	plan := decide(t, snapshot(deployment(1), replicaSet("v1", 1, 1, rsAnnotated(RevisionAnnotation, "x"), sizedFor("y", "z"))))
	if len(plan.Remarks) != 3 || !strings.Contains(plan.Remarks[0], `is "x", which is no number it can have`) {
		t.Errorf("remarks %q", plan.Remarks)
	}
}

func TestTheNewReplicaSetFollowsItsDeployment(t *testing.T) {
	d := deployment(3, annotated("team", "blue"), annotated("kept", "as is"),
		annotated(DesiredReplicasAnnotation, "8"), annotated(MaxReplicasAnnotation, "8"))
	d.Spec.MinReadySeconds = 9
	fresh := replicaSet("v2", 3, 3, sizedFor(3, 4), rsAnnotated("team", "red"), rsAnnotated("removed", "stays"), rsAnnotated("kept", "as is"))
	plan := decide(t, snapshot(d, fresh))
	if len(plan.Change) != 1 {
		t.Fatalf("plan %+v, want one change", plan)
	}
	desired := plan.Change[0].Desired
	want := map[string]string{"team": "blue", "removed": "stays", "kept": "as is", RevisionAnnotation: "2", DesiredReplicasAnnotation: "3", MaxReplicasAnnotation: "4"}
	if diff := cmp.Diff(want, desired.Annotations); diff != "" || desired.Spec.MinReadySeconds != 9 {
		t.Errorf("minReadySeconds %d, annotations (-want +got):\n%s", desired.Spec.MinReadySeconds, diff)
	}
	if fresh.Annotations["team"] != "red" || fresh.Spec.MinReadySeconds != 0 {
		t.Error("the observed ReplicaSet was changed")
	}
	if again := decide(t, snapshot(d, desired)); !again.Empty() {
		t.Errorf("applied to its own result the plan is %+v, want nothing", again)
	}
}

func TestHistoryIsTrimmed(t *testing.T) {
	limit := func(n int32) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &n }
	}
	current := replicaSet("v2", 1, 1, sizedFor(1, 2), rsAnnotated(RevisionAnnotation, "9"))
	five := func(edits ...func(*appsv1.ReplicaSet)) []*appsv1.ReplicaSet {
		return []*appsv1.ReplicaSet{current, replicaSet("v7", 0, 0), replicaSet("v3", 0, 0, edits...), replicaSet("v5", 0, 0), replicaSet("v4", 0, 0), replicaSet("v6", 0, 0)}
	}
	tests := map[string]struct {
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		want string
	}{
		"the lowest revisions go":                       {deployment(1, limit(3)), five(), "v3 v4"},
		"none is kept with limit 0":                     {deployment(1, limit(0)), five(), "v3 v4 v5 v6 v7"},
		"all are kept with the largest limit":           {deployment(1, limit(unlimited)), five(), ""},
		"and without a limit":                           {deployment(1, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = nil }), five(), ""},
		"one with Pods stays and counts":                {deployment(1, paused, limit(3)), five(rsPods(1)), "v4"},
		"one that may get Pods too":                     {deployment(1, paused, limit(3)), five(func(rs *appsv1.ReplicaSet) { rs.Generation = 2 }), "v4"},
		"one that is being deleted does not count":      {deployment(1, limit(3)), five(rsDeleted), "v4"},
		"nothing goes before the rollout is complete":   {deployment(2, limit(0)), append(five()[1:], replicaSet("v2", 2, 1, sizedFor(2, 3), rsAnnotated(RevisionAnnotation, "9"))), ""},
		"while paused it goes, complete or not":         {deployment(1, paused, limit(3)), append(five()[1:], replicaSet("v2", 1, 0, sizedFor(1, 2), rsAnnotated(RevisionAnnotation, "9"))), "v3 v4"},
		"but not while a rollback waits for the resume": {deployment(1, paused, limit(3), annotated(RollbackAnnotation, "3")), five(), ""},
		"after a Recreate too":                          {deployment(1, recreate, limit(4)), five(), "v3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, deletion := range decide(t, snapshot(test.d, test.sets...)).Delete {
				got = append(got, strings.TrimPrefix(deletion.ReplicaSet.Name, "web-"))
				if deletion.Why == "" {
					t.Error("a deletion without a reason")
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("deleted %q, want %q", got, test.want)
			}
		})
	}
}

func TestNothingIsDecidedFor(t *testing.T) {
	tests := map[string]Snapshot{
		"a Deployment that is being deleted": snapshot(deployment(9, deleted), replicaSet("v1", 3, 3, sizedFor(3, 4))),
		"one that was just resumed": snapshot(deployment(9, func(d *appsv1.Deployment) {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionUnknown, Reason: ReasonPaused}}
		}), replicaSet("v1", 3, 3, sizedFor(3, 4))),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			if plan := decide(t, s); !plan.Empty() || plan.Note == "" {
				t.Errorf("plan %+v", plan)
			}
		})
	}
	t.Run("an unknown strategy is an error", func(t *testing.T) {
		d := deployment(1, func(d *appsv1.Deployment) { d.Spec.Strategy.Type = "Sideways" })
		if _, err := Decide(snapshot(d)); err == nil || !strings.Contains(err.Error(), "Sideways") {
			t.Errorf("error %v", err)
		}
	})
}
