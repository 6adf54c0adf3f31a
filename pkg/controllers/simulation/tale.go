package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"
)

// tale tells what happens in a world to somebody who wants to know how Deployments work: who
// acts, what it does and why, which events it sends and what it reports, and after each
// change of sizes or Pods one line with all of them.
//
// What a loop does in one sync is collected and told once the sync has ended.
type tale struct {
	world *World
	from  time.Duration // when the tale begins
	lines []string
	names names

	told   time.Duration // the time of the last line
	teller string        // who acted in the last line
	last   []string      // what was told of that
	again  int           // how often the same has happened since
	until  time.Duration // when it did last
	state  string        // the last line of state
	note   string        // why the Deployment loop last did nothing

	acts   []string // what is to be told of the sync under way
	events []sent   // those it sent, alike ones together
}

// sent is an event, and how often it was sent.
type sent struct {
	text, last string
	count      int
}

// width is how long a line gets, where a word does not need more.
const width = 100

// column is where what somebody does begins.
const column = 23

// tells ends a paragraph: what somebody did, and the state that came of it. What happens over
// and over is told once.
func (t *tale) tells(who string, acts ...string) {
	if len(acts) == 0 {
		return
	}
	now := t.world.clock.elapsed - t.from
	state := t.stateLine()
	if who == t.teller && state == t.state && slices.Equal(acts, t.last) {
		t.again, t.until = t.again+1, now
		return
	}
	t.repeated()
	t.last = acts
	for _, act := range acts {
		when, by := "", ""
		if len(t.lines) == 0 || now != t.told {
			t.lines = append(t.lines, "")
			when, t.teller = now.Round(time.Millisecond).String(), ""
		}
		if who != t.teller {
			by = who
		}
		t.told, t.teller = now, who
		t.write(fmt.Sprintf("%9s  %-12s", when, by), t.names.plain(act))
	}
	if state != "" && state != t.state {
		t.state = state
		t.lines = append(t.lines, strings.Repeat(" ", column)+state)
	}
}

// repeated says how often the last thing has happened again.
func (t *tale) repeated() {
	if t.again > 0 {
		t.write(strings.Repeat(" ", column), fmt.Sprintf("  and %d times more, the last time at %s", t.again, t.until.Round(time.Millisecond)))
	}
	t.again = 0
}

// write adds a line, and goes on in the next one where it gets too long.
func (t *tale) write(margin, text string) {
	t.lines = append(t.lines, wrapped(margin, column+2, text)...)
}

// wrapped returns a text in lines, with a margin in the first and so many spaces in the others,
// and in all of them those that the text begins with.
func wrapped(margin string, others int, text string) []string {
	deeper := len(text) - len(strings.TrimLeft(text, " "))
	var lines []string
	line := margin + strings.Repeat(" ", deeper)
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = strings.Repeat(" ", others+deeper)
		default:
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// does notes a line about the sync under way.
func (t *tale) does(format string, values ...any) {
	t.acts = append(t.acts, fmt.Sprintf(format, values...))
}

// synced tells of the sync that has ended.
func (t *tale) synced(who string) {
	for _, e := range t.events {
		if e.count > 1 {
			t.does("event %s, and %d more like it", e.text, e.count-1)
			continue
		}
		t.does("event %s", e.text)
	}
	acts := t.acts
	t.acts, t.events = nil, nil
	t.tells(who, acts...)
}

// event notes an event of a loop. Those about Pods differ in nothing but the Pod.
func (t *tale) event(kind, reason, message string) {
	if last := len(t.events) - 1; last >= 0 && t.events[last].last == reason {
		t.events[last].count++
		return
	}
	text := fmt.Sprintf("%s: %s", reason, message)
	if kind != "Normal" {
		text = kind + " " + text
	}
	last := ""
	if strings.HasPrefix(reason, "Successful") {
		last = reason
	}
	t.events = append(t.events, sent{text, last, 1})
}

// failed notes that something did not work, among the deeds of the sync under way.
func (t *tale) failed(err error, message string, _ []any) { t.does("%s: %v", message, err) }

// said notes what was told of anything else than a write, an event or a log.
func (t *tale) said(who, text string) {
	switch who {
	case "cache": // these caches do not lag
	case "fault":
		t.does("FAULT: %s", text)
	default:
		t.tells(who, text)
	}
}

// phrases are the words for what the loops log when they do something. What is in braces is
// the value of that key.
func phrases() map[string]string {
	return map[string]string{
		"Created ReplicaSet":         "creates {replicaSet} with {replicas}, revision {revision}",
		"Scaled ReplicaSet":          "scales {replicaSet} from {from} to {to}",
		"Updated ReplicaSet":         "annotates {replicaSet}, revision {revision}",
		"Deleted old ReplicaSet":     "deletes {replicaSet}, revision {revision}",
		"Handled a rollback request": "handles the request for a rollback: {reason}",
		"Adopted ReplicaSet":         "adopts {replicaSet}",
		"Released ReplicaSet":        "releases {replicaSet}",
		"Adopted a pod":              "adopts Pod {pod}",
		"Released a pod":             "releases Pod {pod}",
		"Created pods":               "creates {count} of {replicaSet}",
		"Paused creating pods":       "makes no Pods of {replicaSet}",
		"Deleted pods":               "deletes {count} of {replicaSet}",
		"Name of the new ReplicaSet is taken, another one will be tried": "wants to create a ReplicaSet with a name that {replicaSet} has, and will try another",
	}
}

// logged notes what a loop logs, which is what it does, and why.
func (t *tale) logged(level int, message string, values []any) {
	about := map[string]string{}
	for i := 0; i+1 < len(values); i += 2 {
		key := fmt.Sprint(values[i])
		switch value := values[i+1].(type) {
		case klog.ObjectRef:
			about[key] = value.Name
		default:
			about[key] = fmt.Sprint(value)
		}
		if key == "replicas" || key == "count" {
			about[key] = some(values[i+1])
		}
	}
	phrase, known := phrases()[message]
	saysWhy := strings.Contains(phrase, "{reason}")
	switch {
	case message == "Decided":
		t.decided(about)
	case known:
		for key, value := range about {
			phrase = strings.ReplaceAll(phrase, "{"+key+"}", value)
		}
		t.does("%s", phrase)
		if why := about["reason"]; why != "" && !saysWhy {
			t.does("  because %s", why)
		}
	case level <= 2:
		t.does("%s%s", message, inWords(values))
	}
}

// decided notes why the Deployment loop does nothing, where that is new.
func (t *tale) decided(about map[string]string) {
	why := about["reason"]
	if _, ofReplicaSet := about["create"]; ofReplicaSet || why == t.note {
		return
	}
	t.note = why
	if strings.HasPrefix(why, "waiting ") {
		t.does("is %s", why)
		return
	}
	t.does("finds that %s", why)
}

// some is a number of Pods in words.
func some(n any) string {
	if fmt.Sprint(n) == "1" {
		return "1 Pod"
	}
	return fmt.Sprintf("%v Pods", n)
}
