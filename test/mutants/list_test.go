package mutants

// mutants returns the wrong changes, by what is wrong.
func mutants() map[string]mutant {
	return map[string]mutant{
		"a ReplicaSet that others made too large grows while others shrink": {rolloutCore + "scaling.go",
			"return min(0, max(fraction, left))", "return max(fraction, left)"},
		"a conflict for no reason is waited for without end": {replicaSets + "inflight.go",
			"if deletion.unanswered || overdue {", "if _ = overdue; deletion.unanswered {"},
		"a ReplicaSet shrinks while others grow": {rolloutCore + "scaling.go",
			"return max(0, min(fraction, left))", "return min(fraction, left)"},
		"a ReplicaSet whose creation was not answered is not counted": {deployments + "apply.go",
			"c.unanswered.note(keyOf(d), wanted.Name, err)", ""},
		"a resize that was not answered is not counted": {deployments + "apply.go",
			"c.unanswered.note(keyOf(d), observed.Name, err)", ""},
		"a revision is reported that is not there yet": {rolloutCore + "status.go",
			" && revisionOf(after.new) >= after.nextRevision()", ""},
	}
}
