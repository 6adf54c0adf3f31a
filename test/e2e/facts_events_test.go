package e2e

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The components as which the controllers under test report events.
const (
	deploymentComponent = "deployment-controller"
	replicaSetComponent = "replicaset-controller"
)

// combined is what client-go puts before a message when there were many like it.
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
		about := event.InvolvedObject
		line := eventLine(event)
		if uncounted[event.Reason] != "" {
			line = strings.ReplaceAll(line, combined, "")
		}
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

// facts are all that is compared of what the namespace holds at the end of a story.
func (s *space) facts(st *story, uncounted map[string]string) facts {
	s.t.Helper()
	n := newNormalizer(s.t, s.name, s.lab.manager(), st)
	f := facts{}
	for _, d := range st.deployments.present() {
		n.object(f, "Deployment", d)
	}
	for _, rs := range st.replicaSets.present() {
		n.object(f, "ReplicaSet", rs)
	}
	n.pods(f, st.pods.present())
	n.events(f, st.events.present(), uncounted)
	return f
}
