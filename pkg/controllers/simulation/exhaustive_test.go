package simulation

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestExhaustive visits every state that a rollout from one ReplicaSet to another can be in, for
// up to three replicas and every pair of maxSurge and maxUnavailable, whatever the order in
// which the loops work, caches read, Pods get ready and requests fail. In each state the
// bounds hold, and from each the end can be reached.
func TestExhaustive(t *testing.T) {
	total, searches, begun := 0, 0, time.Now()
	for wanted := 1; wanted <= 3; wanted++ {
		for surge := 0; surge <= wanted; surge++ {
			for unavailable := 0; unavailable <= wanted; unavailable++ {
				if surge+unavailable == 0 {
					continue // the API server refuses it
				}
				m := newModel(wanted, intstr.FromInt(surge), intstr.FromInt(unavailable))
				states, fault := m.search()
				if fault != "" {
					t.Errorf("%d replicas, maxSurge %d, maxUnavailable %d: %s", wanted, surge, unavailable, fault)
				}
				total, searches = total+states, searches+1
			}
		}
	}
	t.Logf("%d states in %d searches, %s", total, searches, time.Since(begun).Round(time.Millisecond))
}

// search visits all states, breadth first, and returns how many there are, and what is wrong.
func (m *model) search() (states int, fault string) {
	first := m.first()
	came := map[state]state{first: first} // from where a state was reached first
	next := map[state][]state{}
	for queue := []state{first}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if broken := m.broken(s); broken != "" {
			return len(came), broken + way(came, s)
		}
		for _, after := range m.steps(s) {
			next[after] = append(next[after], s) // for the way back
			if _, known := came[after]; !known {
				came[after] = s
				queue = append(queue, after)
			}
		}
	}
	// Backwards from the ends: what does not lead to one would be stuck, or go on for ever.
	leads := map[state]bool{}
	var queue []state
	for s := range came {
		if m.isEnd(s) {
			leads[s] = true
			queue = append(queue, s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, before := range next[queue[0]] {
			if !leads[before] {
				leads[before] = true
				queue = append(queue, before)
			}
		}
	}
	for s := range came {
		if !leads[s] {
			return len(came), "the rollout never ends" + way(came, s)
		}
	}
	return len(came), ""
}

// way tells how a state is reached.
func way(came map[state]state, s state) string {
	text := ""
	for came[s] != s {
		text = fmt.Sprintf("\n  %+v%s", s, text)
		s = came[s]
	}
	return fmt.Sprintf("\n  %+v%s", s, text)
}
