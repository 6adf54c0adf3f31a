package rollout

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The annotations by which the loop, kubectl and other tools talk to each other.
const (
	// RevisionAnnotation numbers the template of a ReplicaSet; a Deployment carries
	// the revision of its new ReplicaSet.
	RevisionAnnotation = "deployment.kubernetes.io/revision"
	// RevisionHistoryAnnotation lists the numbers a ReplicaSet had before, oldest
	// first, separated by commas.
	RevisionHistoryAnnotation = "deployment.kubernetes.io/revision-history"
	// DesiredReplicasAnnotation is the Deployment's size when the ReplicaSet was
	// last sized. Where it differs from the Deployment's, the user has scaled.
	DesiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas"
	// MaxReplicasAnnotation is that size plus the surge of that moment: what the
	// ReplicaSet's size is a share of.
	MaxReplicasAnnotation = "deployment.kubernetes.io/max-replicas"
	// RollbackAnnotation asks for a rollback to the revision that it holds; 0 is the
	// last one. Set by clients that still speak extensions/v1beta1.
	RollbackAnnotation = appsv1.DeprecatedRollbackTo
)

// maxHistoryLength bounds RevisionHistoryAnnotation, in characters. Undoing back and
// forth would otherwise fill the 256 KiB that an object's annotations may take, and
// then the ReplicaSet could not be written any more.
const maxHistoryLength = 2000

// travels reports whether an annotation of a Deployment is copied to its new ReplicaSet,
// and back in a rollback. The others are about the one object that carries them.
func travels(key string) bool {
	switch key {
	case corev1.LastAppliedConfigAnnotation, RevisionAnnotation, RevisionHistoryAnnotation,
		DesiredReplicasAnnotation, MaxReplicasAnnotation, RollbackAnnotation:
		return false
	}
	return true
}

// revisionOf returns the ReplicaSet's revision; 0 where it has none or one that is
// no number.
func revisionOf(rs *appsv1.ReplicaSet) int64 {
	revision, err := strconv.ParseInt(rs.Annotations[RevisionAnnotation], 10, 64)
	if err != nil || revision < 0 {
		return 0
	}
	return revision
}

// nextRevision is the revision that the new ReplicaSet must at least have: one more
// than any old one.
func (v view) nextRevision() int64 {
	highest := v.lastRevision()
	if highest == math.MaxInt64 {
		return highest
	}
	return highest + 1
}

// lastRevision is the revision before that of the Deployment's template: the highest of the
// old ones, whether the new ReplicaSet has been given its own already or not even
// been made; 0 if there is none.
func (v view) lastRevision() int64 {
	var highest int64
	for _, rs := range v.old {
		highest = max(highest, revisionOf(rs))
	}
	return highest
}

// remarks names what is wrong with annotations that the loop reads; garbage there
// stalls nothing, but somebody should know.
func (v view) remarks() []string {
	var remarks []string
	for _, rs := range v.all() {
		for _, annotation := range []struct {
			key  string
			bits int
		}{{RevisionAnnotation, 63}, {DesiredReplicasAnnotation, 31}, {MaxReplicasAnnotation, 31}} {
			text, set := rs.Annotations[annotation.key]
			if _, err := strconv.ParseUint(text, 10, annotation.bits); set && err != nil {
				remarks = append(remarks, fmt.Sprintf("annotation %s of ReplicaSet %s is %q, which is no number it can have", annotation.key, rs.Name, text))
			}
		}
	}
	return remarks
}

// bookkeep brings what the new ReplicaSet copies from its Deployment up to date: the
// annotations that travel and minReadySeconds. Its revision is only ever raised.
func (v view) bookkeep(rs *appsv1.ReplicaSet) {
	for key, value := range v.Deployment.Annotations {
		if travels(key) {
			rs.Annotations[key] = value
		}
	}
	rs.Spec.MinReadySeconds = v.Deployment.Spec.MinReadySeconds
	former, next := revisionOf(rs), v.nextRevision()
	if former >= next {
		return
	}
	rs.Annotations[RevisionAnnotation] = strconv.FormatInt(next, 10)
	if former > 0 {
		// It was current before and is again: a rollback. Keep its old number.
		rs.Annotations[RevisionHistoryAnnotation] = remember(rs.Annotations[RevisionHistoryAnnotation], former)
	}
}

// remember appends a revision to a history, and drops the oldest ones that no longer fit.
func remember(history string, revision int64) string {
	if history != "" {
		history += ","
	}
	history += strconv.FormatInt(revision, 10)
	for len(history) > maxHistoryLength {
		_, rest, more := strings.Cut(history, ",")
		if !more {
			return ""
		}
		history = rest
	}
	return history
}

// markSize notes on a ReplicaSet for which size of the Deployment it was sized.
func (v view) markSize(rs *appsv1.ReplicaSet) {
	rs.Annotations[DesiredReplicasAnnotation] = strconv.FormatInt(v.wanted, 10)
	// The annotation is read as a 32-bit number, by others too.
	most := min(v.wanted+v.fenceposts.surge, math.MaxInt32)
	rs.Annotations[MaxReplicasAnnotation] = strconv.FormatInt(most, 10)
}

// annotatedSize reads one of the two size annotations; false where it holds no size.
func annotatedSize(rs *appsv1.ReplicaSet, key string) (int64, bool) {
	value, err := strconv.ParseUint(rs.Annotations[key], 10, 31)
	return int64(value), err == nil
}

// editable returns a copy of the ReplicaSet that shares with the original only what a
// plan never changes.
func editable(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	edited := *rs
	edited.Annotations = make(map[string]string, len(rs.Annotations)+2)
	maps.Copy(edited.Annotations, rs.Annotations)
	return &edited
}
