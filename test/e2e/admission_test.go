package e2e

import (
	"strings"
	"testing"

	"controller-manager/test/e2e/lab"
)

// TestATemplateThatAdmissionChangesMakesOneReplicaSetAndHeals: a rollout begins while a policy
// changes the templates of ReplicaSets. One is made, nothing is taken away for it, an event says
// what was changed; a minute later it is tried again, and once the policy has gone the rollout
// goes on to its end. kubernetes#57167.
func TestATemplateThatAdmissionChangesMakesOneReplicaSetAndHeals(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3, lab.Rolling("1", "0")))
	s.Complete("web")
	s.ChangeTemplates()
	s.Within(lab.Bounds{Most: 4, Least: 3}, func() {
		s.Edit("web", lab.Image("web:2"))
		told := func(st *lab.Story) int32 {
			var count int32
			for _, event := range st.Events.Present() {
				if event.Reason == "TemplateChanged" && strings.Contains(event.Message, "spec.template.spec.containers[0].env") {
					count += event.Count
				}
			}
			return count
		}
		s.Until("the second event, that of the first try a minute later", func(st *lab.Story) string {
			if told(st) < 2 {
				return "it is not there"
			}
			return ""
		})
		if made := s.Recorder.Now().ReplicaSets.Born(); made != 2 {
			t.Errorf("%d ReplicaSets, want that of the first image and one of the second", made)
		}
		s.LeaveTemplates()
		s.Complete("web")
	})
	if made := s.Recorder.Now().ReplicaSets.Born(); made != 3 {
		t.Errorf("%d ReplicaSets in all, want 3", made)
	}
}
