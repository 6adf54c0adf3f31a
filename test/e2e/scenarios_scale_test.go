package e2e

import (
	"fmt"

	"controller-manager/test/e2e/lab"
)

// scaleScenarios are about the number of Pods, also in the middle of a rollout.
func scaleScenarios() []scenario {
	return []scenario{
		{name: "scale-up", steps: func(s *space) { s.resize(2, 5) }},
		{name: "scale-down", steps: func(s *space) { s.resize(5, 2) }},
		{name: "scale-to-0-and-back", steps: func(s *space) { s.resize(2, 0, 2) }},
		{name: "scale-while-paused", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.pause()
			for _, size := range []int{4, 1} {
				s.Kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", size))
				s.UntilEach(fmt.Sprintf("web:1=%d", size))
			}
		}},
		{name: "scale-down-by-deletion-cost", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 3))
			for i, pod := range s.Complete("web").Pods.Present() {
				s.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}}}`, i))
			}
			s.UntilWritten() // by then the costs have been seen
			s.Kubectl("scale", "deployment/web", "--replicas=1")
			s.Complete("web")
		}},
		{name: "scale-down-and-roll-in-one-edit", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 4, atOnce()))
			s.Complete("web")
			s.Edit("web", lab.Replicas(2), lab.Image("web:2"))
			s.Complete("web")
		}},
		{name: "scale-in-the-middle-up", steps: func(s *space) {
			s.holdInTheMiddle()
			s.Edit("web", lab.Replicas(8))
			s.UntilEach("web:1=5 web:2=5")
		}},
		{name: "scale-in-the-middle-down", steps: func(s *space) {
			s.holdInTheMiddle()
			s.Edit("web", lab.Replicas(2))
			s.UntilEach("web:1=1 web:2=2")
		}},
		{name: "scale-in-the-middle-to-0-and-back", steps: func(s *space) {
			s.holdInTheMiddle()
			s.Edit("web", lab.Replicas(0))
			s.UntilEach("web:1=0 web:2=0")
			s.Edit("web", lab.Replicas(2))
			s.UntilEach("web:1=0 web:2=2")
		}},
		{name: "scale-in-the-middle-of-three", steps: func(s *space) {
			s.holdInTheMiddle()
			s.grow()
			s.Edit("web", unready("web:3"))
			s.UntilEach("web:1=3 web:2=0 web:3=3")
			s.Edit("web", lab.Replicas(7))
			s.UntilEach("web:1=4 web:2=0 web:3=5")
		}},
		{name: "scale-in-the-middle-while-paused", steps: func(s *space) {
			s.holdInTheMiddle()
			s.pause()
			s.Edit("web", lab.Replicas(8))
			s.UntilEach("web:1=5 web:2=5")
			s.Edit("web", lab.Replicas(3))
			s.UntilEach("web:1=2 web:2=3")
		}},
	}
}

// resize creates a Deployment and gives it one size after the other.
func (s *space) resize(first int32, sizes ...int32) {
	s.T.Helper()
	s.Create(lab.NewDeployment("web", first))
	s.Complete("web")
	for _, size := range sizes {
		s.Kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", size))
		s.Complete("web")
		s.Until(fmt.Sprintf("%d Pods", size), func(st *lab.Story) string { return lab.WrongPods(st, size) })
	}
}

// holdInTheMiddle brings Deployment web to where its rollout is held by new Pods that are
// not ready: 3 old ones and 3 new ones, for a size of 4 with a surge of 2.
func (s *space) holdInTheMiddle() {
	s.T.Helper()
	s.Create(lab.NewDeployment("web", 4, lab.Rolling("2", "1")))
	s.Complete("web")
	s.grow()
	s.Edit("web", unready("web:2"))
	s.UntilEach("web:1=3 web:2=3")
}
