package simulation

// walk visits all states that can be reached, breadth first.
type walk struct {
	model *model
	known map[state]int32
	came  []int32 // from which state each was reached first
	all   []state
	steps [][2]int32 // from one state to another, without what users and faults do
	fault string
}

// mostStates is about ten times what the largest walk has. A core that is broken may have no end
// of states, and would take all memory.
const mostStates = 3_000_000

// run visits them until there are no more, or one is wrong.
func (q *walk) run(first state) {
	q.known = map[state]int32{}
	q.reach(first, 0)
	for at := int32(0); int(at) < len(q.all); at++ {
		s := q.all[at]
		q.model.availabilityIsKept(&s)
		q.model.exactPods(&s)
		for _, after := range q.model.steps(s) {
			q.steps = append(q.steps, [2]int32{at, q.reach(after, at)})
		}
		for _, after := range q.model.happenings(s) {
			q.reach(after, at)
		}
		if len(q.all) > mostStates {
			q.model.fault = "there is no end of states"
		}
		if q.model.fault != "" {
			q.fault = q.model.fault + q.way(at)
			return
		}
	}
	q.ends()
}

// reach returns the number of a state, and gives it one if it is new.
func (q *walk) reach(s state, from int32) int32 {
	n, known := q.known[s]
	if !known {
		n = int32(len(q.all))
		q.known[s] = n
		q.all, q.came = append(q.all, s), append(q.came, from)
	}
	return n
}

// ends goes backwards from the ends: what does not lead to one would be stuck, or go on for ever.
func (q *walk) ends() {
	first, before := make([]int32, len(q.all)+1), make([]int32, len(q.steps))
	for _, step := range q.steps {
		first[step[1]]++
	}
	for i := range q.all {
		first[i+1] += first[i]
	}
	for _, step := range q.steps {
		first[step[1]]--
		before[first[step[1]]] = step[0]
	}
	leads := make([]bool, len(q.all))
	var queue []int32
	reach := func(n int32) {
		if !leads[n] {
			leads[n] = true
			queue = append(queue, n)
		}
	}
	for n := range q.all {
		if q.all[n].isEnd() {
			reach(int32(n))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, n := range before[first[queue[0]]:first[queue[0]+1]] {
			reach(n)
		}
	}
	for n := range q.all {
		if !leads[n] {
			q.fault = "the rollout never ends" + q.way(int32(n))
			return
		}
	}
}

// way tells how a state is reached.
func (q *walk) way(n int32) string {
	text := ""
	for ; n != 0; n = q.came[n] {
		text = "\n  " + q.all[n].String() + text
	}
	return "\n  " + q.all[0].String() + text
}
