package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/test/e2e/lab"
)

// refusals are reasons of events of which there is one for each refused try.
func refusals() map[string]string {
	return map[string]string{"FailedCreate": "how often a Pod is tried until the test is over depends on timing"}
}

// failureScenarios are about what goes wrong, and what is said about it.
func failureScenarios() []scenario {
	return []scenario{
		{name: "deadline-of-the-first-rollout", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 2, unready("web:1")))
			s.timeOut("web:1=2")
		}},
		{name: "deadline-of-a-rollout", steps: func(s *space) {
			s.begin(2, lab.Rolling("1", "0"))
			s.timeOut("web:1=2 web:2=1")
		}},
		{name: "deadline-and-late-success", steps: func(s *space) {
			s.begin(1)
			s.timeOut("web:1=1 web:2=1")
			s.makeOneReady("web:2")
			s.Complete("web")
		}},
		{name: "deadline-and-undo", steps: func(s *space) {
			s.begin(2, lab.Rolling("1", "0"))
			s.timeOut("web:1=2 web:2=1")
			s.Kubectl("rollout", "undo", "deployment/web")
			s.Complete("web")
		}},
		{name: "unready-after-success", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 3))
			for _, pod := range s.Complete("web").Pods.Present()[:2] {
				s.MakeUnready(pod.Name)
			}
			s.UntilEach("web:1=3")
			s.UntilCondition("web", "Available", "False MinimumReplicasUnavailable")
		}},
		{name: "unready-and-ready-again", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			pod := s.Complete("web").Pods.Present()[0].Name
			s.MakeUnready(pod)
			s.UntilCondition("web", "Available", "False MinimumReplicasUnavailable")
			s.PatchReady(pod, "True")
			s.Complete("web")
		}},
		{name: "quota-that-refuses", uncounted: refusals(), steps: func(s *space) {
			s.Limit(corev1.ResourcePods, 2)
			s.Create(lab.NewDeployment("web", 4))
			s.untilRefused()
		}},
		{name: "quota-that-is-lifted", uncounted: refusals(), steps: func(s *space) {
			s.Limit(corev1.ResourcePods, 1)
			s.Create(lab.NewDeployment("web", 3))
			s.untilRefused()
			s.Unlimit()
			s.Complete("web")
		}},
		{name: "quota-that-refuses-a-rollout", uncounted: refusals(), steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 1))
			s.Complete("web")
			s.Limit(corev1.ResourcePods, 1)
			s.Edit("web", lab.Image("web:2"))
			s.untilRefused()
		}},
		{name: "quota-that-fails-the-deadline", uncounted: refusals(), steps: func(s *space) {
			s.Limit(corev1.ResourcePods, 0)
			s.Create(lab.NewDeployment("web", 1))
			s.untilRefused()
			s.Edit("web", lab.Deadline(1))
			s.UntilCondition("web", "Progressing", timedOut)
		}},
		{name: "failed-and-succeeded-pods", steps: func(s *space) {
			s.Create(lab.NewDeployment("web", 3))
			pods := s.Complete("web").Pods.Present()
			s.PatchPod(pods[0].Name, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
			s.Until("a fourth Pod", func(st *lab.Story) string { return lab.WrongPods(st, 4) })
			s.Complete("web")
			s.PatchPod(pods[1].Name, `{"status":{"phase":"Succeeded"}}`, "status")
			s.Until("a fifth Pod", func(st *lab.Story) string { return lab.WrongPods(st, 5) })
			s.Complete("web")
		}},
	}
}

// timeOut lets a rollout that stands still, with certain sizes, run into its deadline.
func (s *space) timeOut(sizes string) {
	s.T.Helper()
	s.UntilEach(sizes)
	s.Edit("web", lab.Deadline(1))
	s.UntilCondition("web", "Progressing", timedOut)
}

// untilRefused waits until Deployment web and its ReplicaSet report that Pods were refused,
// and an event does.
func (s *space) untilRefused() {
	s.T.Helper()
	s.UntilCondition("web", appsv1.DeploymentReplicaFailure, "True FailedCreate")
	s.Until("an event about the refusal", func(st *lab.Story) string {
		for _, event := range st.Events.Present() {
			if event.Reason == "FailedCreate" {
				return ""
			}
		}
		return fmt.Sprintf("there are %d others", len(st.Events.Now))
	})
}
