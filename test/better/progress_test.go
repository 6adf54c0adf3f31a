package better

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

// TestRecreateThatLooksDone: kubernetes#115538. While the old Pods are on their way out, the
// condition speaks of the rollout before.
func TestRecreateThatLooksDone(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
		s.Complete("web")
		s.Edit("web", lab.Image("web:2"))
		s.Until("all old Pods to be Terminating", lab.StillWanted)
		s.UntilObserved()
		untilSettled(s)
		reason, _ := lab.ConditionOf(s.Deployment("web"), appsv1.DeploymentProgressing)
		s.LetGo()
		s.Complete("web")
		s.LetGo()
		return finding{fault: reason == "True NewReplicaSetAvailable", cell: "Progressing is " + reason}
	})
}

// TestASurgePodThatFindsNoNode: kubernetes#116891. There are as many nodes as Pods, one Pod to a
// node, and maxUnavailable is rounded down to 0.
func TestASurgePodThatFindsNoNode(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.LabelNodes(3)
		s.Create(lab.NewDeployment("web", 3, lab.Rolling("25%", "25%"), lab.Deadline(5), lab.OneToANode(s.Name)))
		s.Complete("web")
		s.Edit("web", lab.Image("web:2"))
		s.UntilCondition("web", appsv1.DeploymentProgressing, "False ProgressDeadlineExceeded")
		s.UntilWritten()
		_, message := lab.ConditionOf(s.Deployment("web"), appsv1.DeploymentProgressing)
		events := strings.Join(s.Recorder.Now().EventsAbout("Deployment", "web"), "; ")
		return finding{
			fault:   !strings.Contains(message, "maxUnavailable") || !strings.Contains(events, message),
			cell:    causeNamed("condition", message) + ", and " + causeNamed("event", events),
			counted: message,
		}
	})
}

// causeNamed tells whether a text names what keeps a Pod from finding a node, and what to do.
func causeNamed(where, text string) string {
	if strings.Contains(text, "cannot be scheduled") && strings.Contains(text, "maxUnavailable") {
		return "the " + where + " names the scheduler's reason and maxUnavailable"
	}
	return "no " + where + " says why"
}

// TestAFinishedDeploymentThatLosesItsPods: two of three Pods are not ready any more, long after the
// rollout.
func TestAFinishedDeploymentThatLosesItsPods(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 3, lab.Rolling("1", "1")))
		st := s.Complete("web")
		for _, pod := range st.PodsOf(st.Newest("web"))[:2] {
			s.MakeUnready(pod.Name)
		}
		s.UntilCondition("web", appsv1.DeploymentAvailable, "False MinimumReplicasUnavailable")
		s.UntilWritten()
		var warnings []string
		for _, event := range s.Recorder.Now().Events.Present() {
			if event.InvolvedObject.Kind == "Deployment" && event.Type == "Warning" {
				warnings = append(warnings, event.Reason+": "+event.Message)
			}
		}
		if len(warnings) == 0 {
			return finding{fault: true, cell: "no event"}
		}
		return finding{cell: fmt.Sprintf("an event, %q", strings.Join(warnings, "; "))}
	})
}
