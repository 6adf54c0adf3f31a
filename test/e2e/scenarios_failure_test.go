package e2e

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// refusals are reasons of events of which there is one for each refused try.
func refusals() map[string]string {
	return map[string]string{"FailedCreate": "how often a Pod is tried until the test is over depends on timing"}
}

// failureScenarios are about what goes wrong, and what is said about it.
func failureScenarios() []scenario {
	return []scenario{
		{name: "deadline-of-the-first-rollout", steps: func(s *space) {
			s.create(newDeployment("web", 2, unready("web:1")))
			s.timeOut("web:1=2")
		}},
		{name: "deadline-of-a-rollout", steps: func(s *space) {
			s.begin(2, rolling("1", "0"))
			s.timeOut("web:1=2 web:2=1")
		}},
		{name: "deadline-and-late-success", steps: func(s *space) {
			s.begin(1)
			s.timeOut("web:1=1 web:2=1")
			s.makeOneReady("web:2")
			s.complete("web")
		}},
		{name: "deadline-and-undo", steps: func(s *space) {
			s.begin(2, rolling("1", "0"))
			s.timeOut("web:1=2 web:2=1")
			s.kubectl("rollout", "undo", "deployment/web")
			s.complete("web")
		}},
		{name: "unready-after-success", steps: func(s *space) {
			s.create(newDeployment("web", 3))
			for _, pod := range s.complete("web").pods.present()[:2] {
				s.makeUnready(pod.Name)
			}
			s.untilEach("web:1=3")
			s.untilCondition("web", "Available", "False MinimumReplicasUnavailable")
		}},
		{name: "unready-and-ready-again", steps: func(s *space) {
			s.create(newDeployment("web", 1))
			pod := s.complete("web").pods.present()[0].Name
			s.makeUnready(pod)
			s.untilCondition("web", "Available", "False MinimumReplicasUnavailable")
			s.patchReady(pod, "True")
			s.complete("web")
		}},
		{name: "quota-that-refuses", uncounted: refusals(), steps: func(s *space) {
			s.limit(corev1.ResourcePods, 2)
			s.create(newDeployment("web", 4))
			s.untilRefused()
		}},
		{name: "quota-that-is-lifted", uncounted: refusals(), steps: func(s *space) {
			s.limit(corev1.ResourcePods, 1)
			s.create(newDeployment("web", 3))
			s.untilRefused()
			s.unlimit()
			s.complete("web")
		}},
		{name: "quota-that-refuses-a-rollout", uncounted: refusals(), steps: func(s *space) {
			s.create(newDeployment("web", 1))
			s.complete("web")
			s.limit(corev1.ResourcePods, 1)
			s.edit("web", image("web:2"))
			s.untilRefused()
		}},
		{name: "quota-that-fails-the-deadline", uncounted: refusals(), steps: func(s *space) {
			s.limit(corev1.ResourcePods, 0)
			s.create(newDeployment("web", 1))
			s.untilRefused()
			s.edit("web", deadline(1))
			s.untilCondition("web", "Progressing", timedOut)
		}},
		{name: "failed-and-succeeded-pods", steps: func(s *space) {
			s.create(newDeployment("web", 3))
			pods := s.complete("web").pods.present()
			s.patchPod(pods[0].Name, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
			s.until("a fourth Pod", func(st *story) string { return wrongPods(st, 4) })
			s.complete("web")
			s.patchPod(pods[1].Name, `{"status":{"phase":"Succeeded"}}`, "status")
			s.until("a fifth Pod", func(st *story) string { return wrongPods(st, 5) })
			s.complete("web")
		}},
	}
}

// timeOut lets a rollout that stands still, with certain sizes, run into its deadline.
func (s *space) timeOut(sizes string) {
	s.t.Helper()
	s.untilEach(sizes)
	s.edit("web", deadline(1))
	s.untilCondition("web", "Progressing", timedOut)
}

// untilRefused waits until Deployment web and its ReplicaSet report that Pods were refused,
// and an event does.
func (s *space) untilRefused() {
	s.t.Helper()
	s.untilCondition("web", appsv1.DeploymentReplicaFailure, "True FailedCreate")
	s.until("an event about the refusal", func(st *story) string {
		for _, event := range st.events.present() {
			if event.Reason == "FailedCreate" {
				return ""
			}
		}
		return fmt.Sprintf("there are %d others", len(st.events.now))
	})
}
