package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/pkg/controllers/replicaset/scale"
)

// replicaSetCases is how many groups of ReplicaSets are looked at.
const replicaSetCases = 1000

func TestReplicaSet(t *testing.T) {
	hits := hits{}
	count, same, choices, circles := 0, 0, 0, 0
	each(t, replicaSetCases, func(t *testing.T, d dice) {
		synctest.Test(t, func(t *testing.T) {
			all := randomReplicaSets(d, time.Now())
			// The built-in panics over a ready Pod that was created in this millisecond.
			<-time.After(300 * time.Millisecond)
			theirs, now := builtinReplicaSets(t, all)
			for _, name := range slices.Sorted(maps.Keys(all.sets)) {
				s := replicaSetStep{all: all, theirs: theirs[name]}
				s.ours, s.snapshot = all.ours(all.sets[name], now)
				differences := s.compare()
				for _, difference := range differences {
					if !excuse(hits, knownInReplicaSets(), s, difference) {
						t.Errorf("%s\n%s", difference, s)
					}
				}
				count++
				if len(differences) == 0 {
					same++
				}
				if s.chooses() {
					choices++
				}
				if !s.chooseAlike(t) {
					circles++
				}
			}
		})
	})
	t.Logf("%d of %d syncs have the same effect to the last field; %d had to choose Pods, and %d of them in a circle", same, count, choices, circles)
	if usual() && (same < count/2 || choices == 0 || circles > choices/3) {
		t.Error("too little was compared")
	}
	check(t, hits, knownInReplicaSets())
}

// knownInReplicaSets are the known differences of the ReplicaSet loop.
func knownInReplicaSets() []known[replicaSetStep] {
	return []known[replicaSetStep]{{
		name: "latest failure",
		why:  "ReplicaFailure follows the latest cause (kubernetes#127081); the built-in keeps the first until something works",
		excuses: func(s replicaSetStep, d difference) bool {
			return strings.HasSuffix(d.field, " "+string(appsv1.ReplicaSetReplicaFailure)) && s.all.refusal != nil && s.failedBefore()
		},
	}}
}

// replicaSetStep is what each of the two loops makes of one ReplicaSet.
type replicaSetStep struct {
	all          *replicaSets
	snapshot     scale.Snapshot
	ours, theirs *change
}

// compare returns the differences, but for the choice of Pods to delete.
func (s replicaSetStep) compare() []difference {
	return compareFields(s.snapshot.ReplicaSet.Name, s.ours.fields(), s.theirs.fields())
}

func (c *change) fields() map[string]string {
	status := c.status
	fields := map[string]string{
		"created":                     fmt.Sprint(c.created),
		"deleted":                     fmt.Sprint(len(c.deleted)),
		"status.replicas":             fmt.Sprint(status.Replicas),
		"status.fullyLabeledReplicas": fmt.Sprint(status.FullyLabeledReplicas),
		"status.readyReplicas":        fmt.Sprint(status.ReadyReplicas),
		"status.availableReplicas":    fmt.Sprint(status.AvailableReplicas),
		"status.terminatingReplicas":  text(status.TerminatingReplicas),
		"status.observedGeneration":   fmt.Sprint(status.ObservedGeneration),
	}
	for _, c := range status.Conditions {
		fields["condition "+string(c.Type)] = strings.Join([]string{string(c.Status), c.Reason, c.Message}, " ")
		fields["transition "+string(c.Type)] = c.LastTransitionTime.String()
	}
	return fields
}

// chooses reports whether ours deletes some of the Pods and keeps others.
func (s replicaSetStep) chooses() bool {
	return len(s.ours.deleted) > 0 && len(s.ours.deleted) < len(s.snapshot.Active)
}

// chooseAlike complains if the two loops delete other Pods, unless those come to the same in
// the built-in's order. It reports false where that order has a circle and says nothing.
func (s replicaSetStep) chooseAlike(t *testing.T) bool {
	t.Helper()
	if maps.Equal(s.ours.deleted, s.theirs.deleted) {
		return true
	}
	order := builtinOrder(s.snapshot.Active, s.snapshot.Siblings, s.snapshot.Now)
	if hasCircle(order) {
		return false
	}
	for i, a := range s.snapshot.Active {
		for j, b := range s.snapshot.Active {
			if !s.ours.deleted[a.Name] && s.ours.deleted[b.Name] && order.Less(i, j) && !order.Less(j, i) {
				t.Errorf("%s goes and %s stays, which should go before it:\n%s", asJSON(t, b), asJSON(t, a), s)
			}
		}
	}
	return true
}

func (s replicaSetStep) failedBefore() bool {
	return slices.ContainsFunc(s.snapshot.ReplicaSet.Status.Conditions, func(c appsv1.ReplicaSetCondition) bool {
		return c.Type == appsv1.ReplicaSetReplicaFailure
	})
}

// String tells what is needed to understand the step.
func (s replicaSetStep) String() string {
	rs := s.snapshot.ReplicaSet
	return fmt.Sprintf("%s size=%s minReady=%d deleting=%v refused=%v, %s before, %d active Pods %s, %d terminating, ours deletes %v, theirs %v",
		rs.Name, text(rs.Spec.Replicas), rs.Spec.MinReadySeconds, rs.DeletionTimestamp != nil, s.all.refusal, tellFailure(rs),
		len(s.snapshot.Active), names(s.snapshot.Active), len(s.snapshot.Terminating), s.ours.deleted, s.theirs.deleted)
}

func names(pods []*corev1.Pod) string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return strings.Join(names, " ")
}
