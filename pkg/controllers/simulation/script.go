package simulation

import (
	"fmt"
	"slices"
	"strings"
)

// Format writes a schedule down, one action a line, so that one that failed can be kept as a
// file. What users do and which fault a request meets has its name there: the file stays
// the same schedule when others are added.
func Format(schedule []Action) string {
	var text strings.Builder
	for _, a := range schedule {
		names := named(a.Op)
		if names == nil {
			fmt.Fprintf(&text, "%s %d %d\n", a.Op, a.A, a.B)
			continue
		}
		which := int(a.A) % len(names)
		fmt.Fprintf(&text, "%s %d %d %s\n", a.Op, int(a.A)/len(names), a.B, names[which])
	}
	return text.String()
}

// Parse reads what Format writes.
func Parse(text string) ([]Action, error) {
	var schedule []Action
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var operation string
		var a Action
		if _, err := fmt.Sscanf(line, "%s %d %d", &operation, &a.A, &a.B); err != nil {
			return nil, fmt.Errorf("reading line %d, %q: %w; write an operation and two numbers", n+1, line, err)
		}
		for a.Op.String() != operation {
			if a.Op++; a.Op == numberOfOperations {
				return nil, fmt.Errorf("reading line %d: there is no operation %q", n+1, operation)
			}
		}
		if names := named(a.Op); names != nil {
			words := strings.SplitN(line, " ", 4)
			which := slices.Index(names, words[len(words)-1])
			if which < 0 {
				return nil, fmt.Errorf("reading line %d: there is no %s %q", n+1, operation, words[len(words)-1])
			}
			a.A = a.A*uint16(len(names)) + uint16(which)
		}
		schedule = append(schedule, a)
	}
	return schedule, nil
}

// named returns what the first number of an action stands for, by what is left of it once it is
// divided by how many there are; nil if it is only a number.
func named(op Operation) []string {
	var names []string
	switch op {
	case opUser:
		for _, wish := range wishes() {
			names = append(names, wish.name)
		}
	case opFault:
		for f := range numberOfFaults {
			names = append(names, f.String())
		}
	}
	return names
}
