package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file are about what the controllers write of objects that others write too.

// TestWhatIsAppliedCanBeTakenBack: the controllers own no field that they did not mean to
// write, so whoever applied one can remove it. kubernetes#80916, kube-green#647.
func TestWhatIsAppliedCanBeTakenBack(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	manifest := func(env string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","annotations":{"team":"blue"}},"spec":{"replicas":2,
			"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
			"spec":{"containers":[{"name":"web","image":"web:1","env":[` + env + `]}]}}}}`
	}
	s.apply(manifest(`{"name":"A","value":"a"},{"name":"B","value":"b"}`), "--server-side")
	s.Complete("web")
	s.apply(manifest(`{"name":"A","value":"a"}`), "--server-side")
	s.Complete("web")
	d := s.Deployment("web")
	if env := d.Spec.Template.Spec.Containers[0].Env; len(env) != 1 || env[0].Name != "A" {
		t.Errorf("the environment is %v, want A alone", env)
	}
	if got := lab.RevisionOf(d); got != 2 {
		t.Errorf("the revision is %d, want 2", got)
	}
	s.wantOwnFieldsOnly(d)
	if !slices.ContainsFunc(d.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "kubectl" && entry.Operation == "Apply"
	}) {
		t.Errorf("kubectl owns nothing any more: %v", d.ManagedFields)
	}
}

// wantOwnFieldsOnly checks that the controllers own of a Deployment its status and its
// revision, and those in fact.
func (s *space) wantOwnFieldsOnly(d *appsv1.Deployment) {
	s.T.Helper()
	manager := localcluster.ControllerManager
	if s.Lab.Ours {
		manager = localcluster.OurUser // the program's name is that of its user
	}
	owned := map[string]bool{}
	for _, entry := range d.ManagedFields {
		if entry.Manager != manager {
			continue
		}
		var fields map[string]map[string]map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			s.T.Fatalf("reading managed fields: %v", err)
		}
		for part, inner := range fields {
			for field, keys := range inner {
				for key := range keys {
					if part == "f:status" {
						owned[part] = true
					} else if key != "." {
						owned[part+" "+field+" "+key] = true
					}
				}
			}
		}
	}
	if !owned["f:status"] {
		s.T.Errorf("%s does not own the status: %v", manager, d.ManagedFields)
	}
	delete(owned, "f:status")
	delete(owned, "f:metadata f:annotations f:"+lab.RevisionAnnotation)
	for field := range owned {
		s.T.Errorf("%s owns %s", manager, field)
	}
}

// TestARevisionThatSomebodyKeepsRemovingIsRestoredEachTimeOnce: and nothing else is written
// for it. karmada PR#4946.
func TestARevisionThatSomebodyKeepsRemovingIsRestoredEachTimeOnce(t *testing.T) {
	t.Parallel()
	const times = 5
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2))
	s.Complete("web")
	s.UntilWritten()
	mark := s.Lab.Mark(t)
	for range times {
		removed := s.Edit("web", func(d *appsv1.Deployment) { delete(d.Annotations, lab.RevisionAnnotation) })
		s.Until("the revision to be restored", func(st *lab.Story) string {
			seen := slices.ContainsFunc(st.Deployments.Seen, func(sighting lab.Sighting[*appsv1.Deployment]) bool {
				return sighting.Object.ResourceVersion == removed.ResourceVersion
			})
			if !seen || lab.RevisionOf(st.Deployments.Now["web"]) != 1 {
				return "it is not there"
			}
			return ""
		})
	}
	s.UntilWritten()
	writes := s.Writes(mark)
	if len(writes) > times && s.Lab.Ours { // the built-in loop conflicts with itself, and writes some more
		t.Errorf("%d writes for %d removals", len(writes), times)
	}
	for _, write := range writes {
		if write.Resource != "deployments" {
			t.Errorf("a write that restores nothing: %s", lab.Describe(write))
		}
	}
}

// TestALongPastOfARevisionIsCut: undoing back and forth for years must not fill the
// annotations until nothing can be written any more. kubernetes#23087, #77387, website#53891.
func TestALongPastOfARevisionIsCut(t *testing.T) {
	t.Parallel()
	const most = 2000
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
	past := strings.TrimSuffix(strings.Repeat("41,", most/3), ",") // all but a few characters
	s.Kubectl("annotate", "replicaset/"+lab.WebReplicaSet, revisionHistoryAnnotation+"="+past)
	for i := range 3 {
		s.Kubectl("rollout", "undo", "deployment/web")
		s.wantRevision(3+i, fmt.Sprintf("web:%d", 1+i%2))
	}
	history := s.Recorder.Now().WithImage("web:1").Annotations[revisionHistoryAnnotation]
	if len(history) > most || len(history) < most-10 || !strings.HasPrefix(history, "41,41,") || !strings.HasSuffix(history, ",41,1,3") {
		t.Errorf("the past has %d characters and ends in %q, want at most %d, the oldest gone and 1 and 3 at the end", len(history), history[max(0, len(history)-20):], most)
	}
}

const revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history"
