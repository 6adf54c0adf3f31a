package better

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/test/e2e/lab"
)

// quickly lets the built-in loops make as many requests as ours.
var quickly = []string{"--kube-api-qps=1000", "--kube-api-burst=1000"}

// TestEventsOfAThousandPods: of how many Pods can be read in events, of those that were made and
// of those that were deleted?
func TestEventsOfAThousandPods(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const size = 1000
		s := l.NewSpace(t)
		s.CreateReplicaSet(lab.NewReplicaSet("web", size))
		s.UntilReplicaSet("web", size)
		s.Kubectl("scale", "replicaset/web", "--replicas=0")
		s.UntilReplicaSet("web", 0)
		told := untilTold(s, 2*size, func(st *lab.Story) int {
			return st.PodsTold("web", lab.Created) + st.PodsTold("web", lab.Deleted)
		})
		return tell(told, 2*size, "Pods", s)
	}, quickly...)
}

// TestEventsOfTwoHundredSteps: of how many steps can be read when 100 Pods are replaced one by one?
func TestEventsOfTwoHundredSteps(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const size = 100
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", size, lab.Rolling("1", "0"), func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = nil }))
		s.Complete("web")
		s.Edit("web", lab.Image("web:2"))
		s.Complete("web")
		told := untilTold(s, 3*size, func(st *lab.Story) int { return st.StepsTold("web") })
		return tell(told, 3*size, "Pods by which ReplicaSets grew and shrank", s)
	}, quickly...)
}

// untilTold waits until events tell of as much as has happened, or until no more will come.
func untilTold(s *lab.Space, want int, count func(*lab.Story) int) int {
	s.T.Helper()
	const late = 15 * time.Second // nothing is kept for longer than 10 seconds
	began := time.Now()
	told := 0
	s.Poll("events", func(context.Context) string {
		if told = count(s.Recorder.Now()); told < want && time.Since(began) < late {
			return fmt.Sprintf("%d were told of", told)
		}
		return ""
	})
	return told
}

// tell says how much was told of what has happened.
func tell(told, all int, what string, s *lab.Space) finding {
	s.T.Helper()
	events := 0
	for _, event := range s.Recorder.Now().Events.Present() {
		if strings.HasSuffix(event.Source.Component, "set-controller") || strings.HasSuffix(event.Source.Component, "deployment-controller") {
			events++
		}
	}
	found := finding{fault: told != all, counted: fmt.Sprintf("%d events tell of %d of %d %s", events, told, all, what)}
	found.cell = "events tell of all of them"
	if told < all {
		found.cell = "events tell of a few of them"
	}
	return found
}
