package e2e

import "controller-manager/test/e2e/lab"

// pauseScenarios are about pause and resume.
func pauseScenarios() []scenario {
	return []scenario{
		{name: "pause", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.pause()
		}},
		{name: "pause-and-resume", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.pause()
			s.Kubectl("rollout", "resume", "deployment/web")
			s.Complete("web")
		}},
		{name: "pause-and-edit", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2))
			s.Complete("web")
			s.pause()
			s.Edit("web", lab.Image("web:2"), lab.Annotated("team", "red"), lab.MinReady(1))
			s.UntilEach("web:1=2")
		}},
		{name: "pause-edit-and-resume", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			s.Complete("web")
			s.pause()
			s.Edit("web", lab.Image("web:2"))
			s.UntilEach("web:1=1")
			s.Kubectl("rollout", "resume", "deployment/web")
			s.Complete("web")
		}},
		{name: "pause-in-the-middle", steps: func(s *space) {
			s.begin(2, lab.Rolling("1", "0"))
			s.UntilEach("web:1=2 web:2=1")
			s.pause()
			s.makeOneReady("web:2")
			s.UntilEach("web:1=2 web:2=1")
		}},
		{name: "pause-in-the-middle-and-resume", steps: func(s *space) {
			s.begin(2, lab.Rolling("1", "0"))
			s.UntilEach("web:1=2 web:2=1")
			s.pause()
			s.makeOneReady("web:2")
			s.UntilEach("web:1=2 web:2=1")
			s.Kubectl("rollout", "resume", "deployment/web")
			s.UntilEach("web:1=1 web:2=2")
		}},
		{name: "pause-after-the-deadline", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, unready("web:1")))
			s.timeOut("web:1=1")
			s.Edit("web", isPaused(true))
			s.UntilEach("web:1=1")
		}},
		{name: "pause-and-then-the-deadline", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1, unready("web:1")))
			s.UntilEach("web:1=1")
			s.pause()
			s.Edit("web", lab.Deadline(1))
			s.UntilEach("web:1=1")
			s.Kubectl("rollout", "resume", "deployment/web")
			s.UntilCondition("web", "Progressing", timedOut)
		}},
	}
}

// pause pauses Deployment web and waits until that is reported.
func (s *space) pause() {
	s.T.Helper()
	s.Kubectl("rollout", "pause", "deployment/web")
	s.UntilCondition("web", "Progressing", paused)
}
