package better

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"controller-manager/test/e2e/lab"
)

// TestATemplateThatIsChangedOnTheWay: kubernetes#57167. Admission adds a variable to the
// template of each ReplicaSet, for half a minute.
func TestATemplateThatIsChangedOnTheWay(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const period = 30 * time.Second
		s := l.NewSpace(t)
		s.ChangeTemplates()
		s.Create(lab.NewDeployment("web", 1))
		began := time.Now()
		s.Poll("the time to pass", func(context.Context) string {
			if left := period - time.Since(began); left > 0 {
				return left.String()
			}
			return ""
		})
		st := s.Recorder.Now()
		made := st.ReplicaSets.Born()
		counted := fmt.Sprintf("%d within %s", made, period)
		if made > 1 {
			return finding{fault: true, cell: "ReplicaSets are made without end", counted: counted}
		}
		said := "and nothing says why"
		if strings.Contains(strings.Join(st.EventsAbout("Deployment", "web"), "; "), "spec.template.spec.containers[0].env") {
			said = "an event names the field that is changed"
		}
		s.LeaveTemplates()
		s.Complete("web")
		return finding{
			cell:    fmt.Sprintf("%d ReplicaSet is made and keeps its Pod, %s, and once the policy has gone the rollout goes on to its end", made, said),
			counted: fmt.Sprintf("%s; %d in all, the rollout complete after %s", counted, s.Recorder.Now().ReplicaSets.Born(), time.Since(began).Round(time.Second)),
		}
	})
}
