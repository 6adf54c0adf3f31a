package lab

import (
	"fmt"
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Done is what was done to Pods, as events say it.
type Done string

// What events say.
const (
	Created Done = "Created"
	Deleted Done = "Deleted"
)

// PodsTold is of how many Pods the events about a ReplicaSet tell, one by one and in sums. An
// event that has happened more than once counts as often.
func (st *Story) PodsTold(replicaSet string, done Done) int {
	sum := regexp.MustCompile(fmt.Sprintf(`^%s (\d+) more pods$`, done))
	single := regexp.MustCompile(fmt.Sprintf(`^(\(combined from similar events\): )?%s pod: `, done))
	return st.told("ReplicaSet", replicaSet, func(message string) int {
		if count := sum.FindStringSubmatch(message); count != nil {
			return number(count[1])
		}
		if single.MatchString(message) {
			return 1
		}
		return 0
	})
}

// StepsTold is by how many Pods ReplicaSets of a Deployment grew and shrank, all together, as
// the events about it tell.
func (st *Story) StepsTold(deployment string) int {
	step := regexp.MustCompile(`Scaled (up|down) replica set \S+ from (\d+) to (\d+)$`)
	return st.told("Deployment", deployment, func(message string) int {
		if sizes := step.FindStringSubmatch(message); sizes != nil {
			from, to := number(sizes[2]), number(sizes[3])
			return max(from, to) - min(from, to)
		}
		return 0
	})
}

// told adds up what the events about an object tell.
func (st *Story) told(kind, name string, count func(message string) int) int {
	sum := 0
	for _, event := range st.Events.Present() {
		if event.InvolvedObject.Kind == kind && event.InvolvedObject.Name == name && event.Type == corev1.EventTypeNormal {
			sum += count(event.Message) * max(1, int(event.Count))
		}
	}
	return sum
}

// number reads digits.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // beyond what an int holds
	}
	return n
}
