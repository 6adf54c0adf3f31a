package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// tale is a world in which things go as they mostly do: caches read at once, Pods take a second
// for each step, and users do what the tale says. It is written down as a transcript: what
// users did, what the Deployment loop did and why, and what was there each time that changed.
type tale struct {
	*World
	t    *testing.T
	hold func(*corev1.Pod) bool // Pods that do not get further

	text                      strings.Builder
	told                      int               // how many lines of the story are in the transcript
	decided, sets, conditions string            // what was written last
	labels                    map[string]string // of ReplicaSets, by name
	images                    map[string]int    // how many of them there have been, by image
}

func newTale(t *testing.T) *tale {
	w := newWorld(nil)
	w.story = &story{}
	w.start(0)
	return &tale{World: w, t: t, labels: map[string]string{}, images: map[string]int{}, hold: func(*corev1.Pod) bool { return false }}
}

// says writes down what a user does, and does it.
func (s *tale) says(what string, do func()) {
	s.tell("user", "%s", what)
	do()
	s.write()
}

// creates lets a user create the Deployment.
func (s *tale) creates(replicas int32, edits ...func(*appsv1.Deployment)) {
	d := newDeployment("web", "v1", replicas)
	for _, change := range edits {
		change(d)
	}
	s.says(fmt.Sprintf("creates a Deployment of %d, %s", replicas, strategy(d)), func() {
		if _, err := create(s.server, &s.server.deployments, &s.World.user, d); err != nil {
			s.t.Fatal(err)
		}
	})
}

// edits lets a user change the Deployment.
func (s *tale) edits(what string, change func(*appsv1.Deployment)) {
	s.says(what, func() {
		edit(func(d *appsv1.Deployment, _, _ int) { change(d) })(s.World, s.server.deployments.get("web"), 0, 0)
	})
}

// after lets seconds pass, in each of which everything makes a step.
func (s *tale) after(seconds int) {
	for range seconds {
		s.second()
	}
}

// finally lets everything go on until nothing happens any more.
func (s *tale) finally() {
	for quiet := 0; quiet < 5; {
		before := s.Events
		s.second()
		if s.Events > before+1 { // the passing of time is one
			quiet = 0
			continue
		}
		quiet++
		if at, set := s.timer(); set && quiet == 5 {
			s.pass(at - s.clock.elapsed)
			quiet = 0
		}
	}
}

func (s *tale) second() {
	for _, r := range s.readers() {
		s.read(r, r.lag(), false)
	}
	s.syncAll()
	for _, pod := range slices.Clone(s.server.pods.rows) {
		if !s.hold(pod) {
			s.advance(pod)
		}
	}
	for s.collect() {
	}
	s.pass(time.Second)
	s.write()
	if s.check.violation != nil {
		s.t.Fatalf("%v\n%s", s.check.violation, s.text.String())
	}
}

// write adds to the transcript what has been told since, and what is there if that changed.
func (s *tale) write() {
	for ; s.told < len(s.story.lines); s.told++ {
		l := s.story.lines[s.told]
		about := strings.Contains(l.text, "deployment=")
		text := strings.Replace(s.labeled(l.text), " deployment=web", "", 1)
		switch {
		case l.kind == "user", l.kind == "fault", l.kind == "process":
			fmt.Fprintf(&s.text, "\n%s %s\n", l.at.Round(time.Second), text)
		case l.kind == "log" && about, l.kind == "detail" && strings.HasPrefix(text, "Decided") && about && text != s.decided:
			fmt.Fprintf(&s.text, "    %s\n", text)
			s.decided = text
		}
	}
	if sets := s.describeSets(); sets != s.sets {
		s.sets = sets
		fmt.Fprintf(&s.text, "  %s\n", sets)
	}
	if conditions := s.describeConditions(); conditions != s.conditions {
		s.conditions = conditions
		fmt.Fprintf(&s.text, "  %s\n", conditions)
	}
}

// labeled names ReplicaSets by their image, and a second one of the same image as such.
func (s *tale) labeled(text string) string {
	for _, c := range s.server.replicaSets.log {
		if c.old == nil && s.labels[c.new.Name] == "" {
			s.images[imageOf(c.new)]++
			s.labels[c.new.Name] = imageOf(c.new) + strings.Repeat("'", s.images[imageOf(c.new)]-1)
		}
	}
	for name, label := range s.labels {
		text = strings.ReplaceAll(text, name, label)
	}
	return text
}

// describeSets says in a line which ReplicaSets are there, with how many Pods.
func (s *tale) describeSets() string {
	parts := []string{}
	for _, rs := range s.server.replicaSets.rows {
		active, ready, running := s.check.countPods(rs)
		if size(rs) > 0 || running > 0 {
			parts = append(parts, s.labeled(fmt.Sprintf("%s wants %d, has %d, %d ready%s", rs.Name, size(rs), active, ready, ending(running-active))))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " | ")
}

// describeConditions says in a line what the Deployment reports of itself.
func (s *tale) describeConditions() string {
	d := s.server.deployments.get("web")
	if d == nil {
		return "there is no Deployment"
	}
	conditions := []string{}
	for _, c := range d.Status.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(conditions)
	return strings.Join(conditions, ", ")
}

func ending(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf(", %d ending", count)
}

func strategy(d *appsv1.Deployment) string {
	if d.Spec.Strategy.RollingUpdate == nil {
		return "Recreate"
	}
	r := d.Spec.Strategy.RollingUpdate
	return fmt.Sprintf("maxSurge %s, maxUnavailable %s", r.MaxSurge.String(), r.MaxUnavailable.String())
}
