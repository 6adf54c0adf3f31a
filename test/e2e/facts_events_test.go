package e2e

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"controller-manager/test/e2e/lab"
)

// The components as which the controllers under test report events.
const (
	deploymentComponent = "deployment-controller"
	replicaSetComponent = "replicaset-controller"
)

// combined is what client-go puts before a message when there were many like it. Ours are told one
// by one, or summed up: see better.TestEventsOfAThousandPods.
const combined = "(combined from similar events): "

// events adds the events of the controllers under test. Those that are alike in all that
// is compared are one object, with the number of events and the sum of their counts;
// except for reasons that are uncounted.
func (n *normalizer) events(f facts, events []*corev1.Event, uncounted map[string]string) {
	type total struct {
		events int
		count  int32
	}
	totals := map[string]total{}
	for _, event := range events {
		if !slices.Contains([]string{deploymentComponent, replicaSetComponent}, event.Source.Component) {
			continue
		}
		if onlyOurs(event.Reason) {
			continue
		}
		about := event.InvolvedObject
		line := strings.ReplaceAll(lab.EventLine(event), combined, "")
		name := n.text(fmt.Sprintf("Event about %s %s: %s", about.Kind, about.Name, line))
		for path, value := range map[string]string{
			"involvedObject.apiVersion": about.APIVersion,
			"involvedObject.fieldPath":  about.FieldPath,
			"involvedObject.uid":        string(about.UID),
			"source.host":               event.Source.Host,
			"reportingComponent":        event.ReportingController,
			"reportingInstance":         event.ReportingInstance,
			"action":                    event.Action,
		} {
			if value != "" {
				f.add(name, path, n.text(value))
			}
		}
		if uncounted[event.Reason] == "" {
			sum := totals[name]
			totals[name] = total{events: sum.events + 1, count: sum.count + event.Count}
		}
	}
	for name, sum := range totals {
		f.add(name, "number of such events", fmt.Sprint(sum.events))
		f.add(name, "sum of their counts", fmt.Sprint(sum.count))
	}
}

// onlyOurs tells the events that our loops send and the built-in ones do not: that a finished
// Deployment has lost its availability, and that the deadline has passed.
func onlyOurs(reason string) bool {
	return slices.Contains([]string{"Degraded", "ProgressDeadlineExceeded"}, reason)
}

// facts are all that is compared of what the namespace holds at the end of a story.
func (s *space) facts(st *lab.Story, uncounted map[string]string) facts {
	s.T.Helper()
	n := newNormalizer(s.T, s.Name, s.Lab.Manager(), st)
	f := facts{}
	for _, d := range st.Deployments.Present() {
		n.object(f, "Deployment", d)
	}
	for _, rs := range st.ReplicaSets.Present() {
		n.object(f, "ReplicaSet", rs)
	}
	n.pods(f, st.Pods.Present())
	n.events(f, st.Events.Present(), uncounted)
	return f
}
