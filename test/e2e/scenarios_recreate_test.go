package e2e

import (
	"fmt"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/test/e2e/lab"
)

// recreateScenarios are about the strategy Recreate, and from and to it.
func recreateScenarios() []scenario {
	return []scenario{
		{name: "recreate", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
			s.Complete("web")
			s.Edit("web", lab.Image("web:2"))
			s.releaseAll(s.untilTerminating(2).Pods.Present())
			s.Complete("web")
		}},
		// Without a deadline: what Progressing says at that moment is better under ours, see
		// better.TestRecreateThatLooksDone.
		{name: "recreate-held-by-the-last-pods", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held(), lab.Deadline(math.MaxInt32)))
			s.UntilEach("web:1=2")
			s.Edit("web", lab.Image("web:2"))
			s.untilTerminating(2)
		}},
		{name: "recreate-and-scale-while-held", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
			s.Complete("web")
			s.Edit("web", lab.Image("web:2"))
			pods := s.untilTerminating(2).Pods.Present()
			s.Edit("web", lab.Replicas(3))
			s.untilTerminating(2)
			s.releaseAll(pods)
			s.Complete("web")
		}},
		{name: "recreate-chosen-with-a-new-image", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, lab.Held()))
			s.Complete("web")
			s.Edit("web", lab.Recreate(), lab.Image("web:2"))
			s.releaseAll(s.untilTerminating(1).Pods.Present())
			s.Complete("web")
		}},
		{name: "recreate-chosen-in-the-middle", steps: func(s *space) {
			s.begin(2, lab.Rolling("1", "0"))
			s.UntilEach("web:1=2 web:2=1")
			s.Edit("web", lab.Recreate())
			s.UntilEach("web:1=0 web:2=2")
		}},
		{name: "rolling-chosen-while-recreate-is-held", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, lab.Recreate(), lab.Held()))
			s.Complete("web")
			s.Edit("web", lab.Image("web:2"))
			s.untilTerminating(2)
			s.Edit("web", atOnce())
			s.UntilEach("web:1=0 web:2=2")
		}},
		{name: "recreate-undone-while-held", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, lab.Recreate(), lab.Held()))
			s.Complete("web")
			s.Edit("web", lab.Image("web:2"))
			s.untilTerminating(1)
			s.Edit("web", lab.Image("web:1"))
			s.UntilEach("web:1=1")
		}},
	}
}

// releaseAll lets Terminating Pods go one by one, so that each one's going is reported
// before the next: the built-in loops would come into conflict with themselves and then
// not report the new ReplicaSet.
func (s *space) releaseAll(pods []*corev1.Pod) {
	s.T.Helper()
	for i, pod := range pods {
		s.untilTerminating(int32(len(pods) - i))
		s.release(pod.Name)
	}
}

// untilTerminating waits until Deployment web reports a number of Pods that are being
// deleted, and none else.
func (s *space) untilTerminating(want int32) *lab.Story {
	s.T.Helper()
	generation := s.Deployment("web").Generation
	return s.UntilDeployment("web", fmt.Sprintf("%d Terminating Pods", want), func(d *appsv1.Deployment) string {
		if got := d.Status.TerminatingReplicas; got == nil || *got != want || d.Status.Replicas != 0 || d.Status.ObservedGeneration < generation {
			return lab.TellDeployment(d)
		}
		return ""
	})
}
