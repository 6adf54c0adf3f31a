package e2e

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// complete waits until a Deployment, as it is now, is rolled out, and until its
// ReplicaSets and Pods have been seen as it reports them.
func (s *space) complete(name string) *story {
	s.t.Helper()
	generation := s.deployment(name).Generation
	return s.until("Deployment "+name+" to be complete", func(st *story) string {
		d := st.deployments.now[name]
		if d == nil {
			return "it has not been seen"
		}
		if missing := incomplete(d, generation); missing != "" {
			return missing
		}
		if got := st.readyPodsOf(d); got < int(*d.Spec.Replicas) {
			return fmt.Sprintf("only %d of its Pods were seen ready", got)
		}
		return ""
	})
}

// untilDeployment waits for a state of a Deployment.
func (s *space) untilDeployment(name, what string, missing func(*appsv1.Deployment) string) *story {
	s.t.Helper()
	return s.until(fmt.Sprintf("Deployment %s: %s", name, what), func(st *story) string {
		d := st.deployments.now[name]
		if d == nil {
			return "it does not exist"
		}
		return missing(d)
	})
}

// untilCondition waits until a condition is as wanted, in the form "Status Reason".
func (s *space) untilCondition(name string, kind appsv1.DeploymentConditionType, want string) *story {
	s.t.Helper()
	return s.untilDeployment(name, fmt.Sprintf("condition %s %s", kind, want), func(d *appsv1.Deployment) string {
		return wrongCondition(d, kind, want)
	})
}

// untilNewest waits until a Deployment's newest ReplicaSet has a revision.
func (s *space) untilNewest(name string, revision int) *story {
	s.t.Helper()
	return s.until(fmt.Sprintf("the ReplicaSet of revision %d", revision), func(st *story) string {
		switch rs := st.newest(name); {
		case rs == nil:
			return "there is none"
		case revisionOf(rs) != revision:
			return "the newest is " + tellReplicaSet(rs)
		default:
			return ""
		}
	})
}

// untilEvents waits for events about objects of a kind, as eventLine tells them.
func (s *space) untilEvents(kind string, lines ...string) *story {
	s.t.Helper()
	return s.until("events about the "+kind, func(st *story) string {
		for _, line := range lines {
			if !st.hasEvent(kind, line) {
				return "there is no event " + line
			}
		}
		return ""
	})
}

// bounds are the limits of a rollout, worked out by hand.
type bounds struct {
	most     int32 // sum of spec.replicas over all ReplicaSets
	least    int32 // available Pods
	minReady time.Duration
	scaled   bool // the Deployment is scaled meanwhile: old ReplicaSets may grow with it
}

// within runs a change during which the bounds must hold at every single step.
func (s *space) within(b bounds, change func()) {
	s.t.Helper()
	most := s.recorder.enforce("the sizes of all ReplicaSets stay within the surge", func(st *story) error {
		if sum := st.sumOfSizes(); sum > b.most {
			return fmt.Errorf("the ReplicaSets want %d Pods together, but %d is the most", sum, b.most)
		}
		return nil
	})
	least := s.recorder.enforce("enough Pods stay available", func(st *story) error {
		if got := st.available(b.minReady, time.Now()); got < b.least {
			return fmt.Errorf("%d Pods are available, but %d is the least", got, b.least)
		}
		return nil
	})
	oldNeverGrow := s.recorder.enforce("an old ReplicaSet never grows", growthOfOld(b.scaled))
	change()
	if err := errors.Join(s.recorder.repeal(most), s.recorder.repeal(least), s.recorder.repeal(oldNeverGrow)); err != nil {
		s.t.Errorf("during a rollout: %v", err)
	}
}

// growthOfOld is a rule: only the ReplicaSet with the highest revision may grow, unless
// others are allowed to.
func growthOfOld(allowed bool) func(*story) error {
	sizes := map[string]int32{}
	return func(st *story) error {
		highest := 0
		for _, rs := range st.replicaSets.present() {
			highest = max(highest, revisionOf(rs))
		}
		for _, rs := range st.replicaSets.present() {
			size, known := sizes[rs.Name]
			sizes[rs.Name] = *rs.Spec.Replicas
			if known && !allowed && *rs.Spec.Replicas > size && revisionOf(rs) < highest {
				return fmt.Errorf("ReplicaSet %s of revision %d grew from %d to %d", rs.Name, revisionOf(rs), size, *rs.Spec.Replicas)
			}
		}
		return nil
	}
}

// wantConditionSeen fails unless a condition was seen at some time, with a message.
func (s *space) wantConditionSeen(name string, kind appsv1.DeploymentConditionType, want, wantMessage string) {
	s.t.Helper()
	for _, sighting := range s.recorder.now().deployments.seen {
		got, message := conditionOf(sighting.object, kind)
		if sighting.object.Name == name && got == want && message == wantMessage {
			return
		}
	}
	s.t.Errorf("condition %s of Deployment %s was never %q with the message %q", kind, name, want, wantMessage)
}
