package e2e

// pauseScenarios are about pause and resume.
func pauseScenarios() []scenario {
	return []scenario{
		{name: "pause", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.pause()
		}},
		{name: "pause-and-resume", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.pause()
			s.kubectl("rollout", "resume", "deployment/web")
			s.complete("web")
		}},
		{name: "pause-and-edit", steps: func(s *space) {
			s.create(newDeployment("web", 2))
			s.complete("web")
			s.pause()
			s.edit("web", image("web:2"), annotated("team", "red"), minReady(1))
			s.untilEach("web:1=2")
		}},
		{name: "pause-edit-and-resume", steps: func(s *space) {
			s.create(newDeployment("web", 1))
			s.complete("web")
			s.pause()
			s.edit("web", image("web:2"))
			s.untilEach("web:1=1")
			s.kubectl("rollout", "resume", "deployment/web")
			s.complete("web")
		}},
		{name: "pause-in-the-middle", steps: func(s *space) {
			s.begin(2, rolling("1", "0"))
			s.untilEach("web:1=2 web:2=1")
			s.pause()
			s.makeOneReady("web:2")
			s.untilEach("web:1=2 web:2=1")
		}},
		{name: "pause-in-the-middle-and-resume", steps: func(s *space) {
			s.begin(2, rolling("1", "0"))
			s.untilEach("web:1=2 web:2=1")
			s.pause()
			s.makeOneReady("web:2")
			s.untilEach("web:1=2 web:2=1")
			s.kubectl("rollout", "resume", "deployment/web")
			s.untilEach("web:1=1 web:2=2")
		}},
		{name: "pause-after-the-deadline", steps: func(s *space) {
			s.create(newDeployment("web", 1, unready("web:1")))
			s.timeOut("web:1=1")
			s.edit("web", isPaused(true))
			s.untilEach("web:1=1")
		}},
		{name: "pause-and-then-the-deadline", steps: func(s *space) {
			s.create(newDeployment("web", 1, unready("web:1")))
			s.untilEach("web:1=1")
			s.pause()
			s.edit("web", deadline(1))
			s.untilEach("web:1=1")
			s.kubectl("rollout", "resume", "deployment/web")
			s.untilCondition("web", "Progressing", timedOut)
		}},
	}
}

// pause pauses Deployment web and waits until that is reported.
func (s *space) pause() {
	s.t.Helper()
	s.kubectl("rollout", "pause", "deployment/web")
	s.untilCondition("web", "Progressing", paused)
}
