package e2e

import "controller-manager/test/e2e/lab"

// rollScenarios are about rollouts that have one way to go by themselves.
func rollScenarios() []scenario {
	return []scenario{
		{name: "roll-one-pod", steps: func(s *space) { s.roll(1, lab.Rolling("25%", "25%")) }},
		{name: "roll-one-pod-without-surge", steps: func(s *space) { s.roll(1, lab.Rolling("0", "1")) }},
		{name: "roll-one-pod-with-both-bounds-0", steps: func(s *space) { s.roll(1, lab.Rolling("0", "25%")) }},
		{name: "roll-all-at-once", steps: func(s *space) { s.roll(4, atOnce()) }},
		{name: "roll-with-min-ready-seconds", steps: func(s *space) { s.roll(1, lab.MinReady(1)) }},
		{name: "roll-a-deployment-of-size-0", steps: func(s *space) { s.roll(0) }},
		{name: "roll-back-and-forth", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			for _, name := range []string{"web:1", "web:2", "web:1", "web:2", "web:3", "web:1"} {
				s.Edit("web", lab.Image(name))
				s.Complete("web")
			}
		}},
	}
}

// roll rolls a Deployment out twice.
func (s *space) roll(size int32, edits ...lab.Edit) {
	s.T.Helper()
	s.Create(lab.NewDeployment("web", size, edits...))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
}

// steeredScenarios are about rollouts whose Pods become ready when the test says so.
func steeredScenarios() []scenario {
	return []scenario{
		{name: "steer-with-a-surge", steps: func(s *space) {
			s.begin(2, lab.Rolling("1", "0"))
			s.steer("web:1=2 web:2=1", "web:1=1 web:2=2", "web:1=0 web:2=2")
		}},
		{name: "steer-without-a-surge", steps: func(s *space) {
			s.begin(2, lab.Rolling("0", "1"))
			s.steer("web:1=1 web:2=1", "web:1=0 web:2=2", "web:1=0 web:2=2")
		}},
		{name: "steer-by-percentages", steps: func(s *space) {
			s.begin(3, lab.Rolling("25%", "25%"))
			s.steer("web:1=3 web:2=1", "web:1=2 web:2=2", "web:1=1 web:2=3", "web:1=0 web:2=3")
		}},
		{name: "steer-by-percentages-of-10", steps: func(s *space) {
			s.begin(10, lab.Rolling("25%", "25%"))
			s.UntilEach("web:1=8 web:2=5")
		}},
		{name: "steer-with-both-bounds-0-after-rounding", steps: func(s *space) {
			s.begin(3, lab.Rolling("0", "10%"))
			s.steer("web:1=2 web:2=1", "web:1=1 web:2=2")
		}},
		{name: "steer-with-more-unavailable-than-there-are", steps: func(s *space) {
			s.begin(3, lab.Rolling("1", "5"))
			s.UntilEach("web:1=0 web:2=3")
		}},
		{name: "rollover", steps: func(s *space) {
			s.begin(3, lab.Rolling("1", "0"))
			s.UntilEach("web:1=3 web:2=1")
			s.Edit("web", lab.Image("web:3"))
			s.UntilEach("web:1=3 web:2=0 web:3=1")
			s.Edit("web", lab.Image("web:4"))
			s.UntilEach("web:1=3 web:2=0 web:3=0 web:4=1")
		}},
		{name: "rollover-back-to-the-first", steps: func(s *space) {
			s.begin(3, lab.Rolling("1", "0"))
			s.UntilEach("web:1=3 web:2=1")
			s.Kubectl("rollout", "undo", "deployment/web")
			s.Complete("web")
		}},
		{name: "rollover-to-the-fix", steps: func(s *space) {
			s.begin(1)
			s.UntilEach("web:1=1 web:2=1")
			s.Edit("web", lab.Image("web:3"), lab.Mode(""))
			s.Complete("web")
		}},
		{name: "fix-of-the-first-that-never-was-ready", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 4, unready("web:1"), atOnce()))
			s.UntilEach("web:1=4")
			s.Edit("web", lab.Image("web:2"), lab.Mode(""))
			s.Complete("web")
		}},
		{name: "bounds-changed-in-the-middle", steps: func(s *space) {
			s.begin(3, lab.Rolling("1", "0"))
			s.UntilEach("web:1=3 web:2=1")
			s.Edit("web", lab.Rolling("2", "1"))
			s.UntilEach("web:1=2 web:2=3")
		}},
	}
}

// begin starts a rollout whose Pods wait for makeOneReady.
func (s *space) begin(size int32, edits ...lab.Edit) {
	s.T.Helper()
	s.Create(lab.NewDeployment("web", size, edits...))
	s.Complete("web")
	s.Edit("web", unready("web:2"))
}

// steer waits for sizes, one after the other, and makes a new Pod ready between them.
func (s *space) steer(sizes ...string) {
	s.T.Helper()
	for i, want := range sizes {
		if i > 0 {
			s.makeOneReady("web:2")
		}
		s.UntilEach(want)
	}
}
