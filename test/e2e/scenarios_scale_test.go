package e2e

import "fmt"

// scaleScenarios are about the number of Pods, also in the middle of a rollout.
func scaleScenarios() []scenario {
	return []scenario{
		{name: "scale-up", steps: func(s *space) { s.resize(2, 5) }},
		{name: "scale-down", steps: func(s *space) { s.resize(5, 2) }},
		{name: "scale-to-0-and-back", steps: func(s *space) { s.resize(2, 0, 2) }},
		{name: "scale-while-paused", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.pause()
			for _, size := range []int{4, 1} {
				s.kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", size))
				s.untilEach(fmt.Sprintf("web:1=%d", size))
			}
		}},
		{name: "scale-down-by-deletion-cost", steps: func(s *space) {
			s.create(newDeployment("web", 3))
			for i, pod := range s.complete("web").pods.present() {
				s.patchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}}}`, i))
			}
			s.untilWritten() // by then the costs have been seen
			s.kubectl("scale", "deployment/web", "--replicas=1")
			s.complete("web")
		}},
		{name: "scale-down-and-roll-in-one-edit", steps: func(s *space) {
			s.create(newDeployment("web", 4, atOnce()))
			s.complete("web")
			s.edit("web", replicas(2), image("web:2"))
			s.complete("web")
		}},
		{name: "scale-in-the-middle-up", steps: func(s *space) {
			s.holdInTheMiddle()
			s.edit("web", replicas(8))
			s.untilEach("web:1=5 web:2=5")
		}},
		{name: "scale-in-the-middle-down", steps: func(s *space) {
			s.holdInTheMiddle()
			s.edit("web", replicas(2))
			s.untilEach("web:1=1 web:2=2")
		}},
		{name: "scale-in-the-middle-to-0-and-back", steps: func(s *space) {
			s.holdInTheMiddle()
			s.edit("web", replicas(0))
			s.untilEach("web:1=0 web:2=0")
			s.edit("web", replicas(2))
			s.untilEach("web:1=0 web:2=2")
		}},
		{name: "scale-in-the-middle-of-three", steps: func(s *space) {
			s.holdInTheMiddle()
			s.grow()
			s.edit("web", unready("web:3"))
			s.untilEach("web:1=3 web:2=0 web:3=3")
			s.edit("web", replicas(7))
			s.untilEach("web:1=4 web:2=0 web:3=5")
		}},
		{name: "scale-in-the-middle-while-paused", steps: func(s *space) {
			s.holdInTheMiddle()
			s.pause()
			s.edit("web", replicas(8))
			s.untilEach("web:1=5 web:2=5")
			s.edit("web", replicas(3))
			s.untilEach("web:1=2 web:2=3")
		}},
	}
}

// resize creates a Deployment and gives it one size after the other.
func (s *space) resize(first int32, sizes ...int32) {
	s.t.Helper()
	s.create(newDeployment("web", first))
	s.complete("web")
	for _, size := range sizes {
		s.kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", size))
		s.complete("web")
		s.until(fmt.Sprintf("%d Pods", size), func(st *story) string { return wrongPods(st, size) })
	}
}

// holdInTheMiddle brings Deployment web to where its rollout is held by new Pods that are
// not ready: 3 old ones and 3 new ones, for a size of 4 with a surge of 2.
func (s *space) holdInTheMiddle() {
	s.t.Helper()
	s.create(newDeployment("web", 4, rolling("2", "1")))
	s.complete("web")
	s.grow()
	s.edit("web", unready("web:2"))
	s.untilEach("web:1=3 web:2=3")
}
