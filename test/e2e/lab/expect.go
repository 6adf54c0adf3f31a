package lab

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// Complete waits until a Deployment, as it is now, is rolled out, and until its
// ReplicaSets and Pods have been seen as it reports them.
func (s *Space) Complete(name string) *Story {
	s.T.Helper()
	generation := s.Deployment(name).Generation
	return s.Until("Deployment "+name+" to be complete", func(st *Story) string {
		d := st.Deployments.Now[name]
		if d == nil {
			return "it has not been seen"
		}
		if missing := Incomplete(d, generation); missing != "" {
			return missing
		}
		if got := st.readyPodsOf(d); got < int(*d.Spec.Replicas) {
			return fmt.Sprintf("only %d of its Pods were seen ready", got)
		}
		return ""
	})
}

// UntilDeployment waits for a state of a Deployment.
func (s *Space) UntilDeployment(name, what string, missing func(*appsv1.Deployment) string) *Story {
	s.T.Helper()
	return s.Until(fmt.Sprintf("Deployment %s: %s", name, what), func(st *Story) string {
		d := st.Deployments.Now[name]
		if d == nil {
			return "it does not exist"
		}
		return missing(d)
	})
}

// UntilCondition waits until a condition is as wanted, in the form "Status Reason".
func (s *Space) UntilCondition(name string, kind appsv1.DeploymentConditionType, want string) *Story {
	s.T.Helper()
	return s.UntilDeployment(name, fmt.Sprintf("condition %s %s", kind, want), func(d *appsv1.Deployment) string {
		return WrongCondition(d, kind, want)
	})
}

// UntilNewest waits until a Deployment's newest ReplicaSet has a revision.
func (s *Space) UntilNewest(name string, revision int) *Story {
	s.T.Helper()
	return s.Until(fmt.Sprintf("the ReplicaSet of revision %d", revision), func(st *Story) string {
		switch rs := st.Newest(name); {
		case rs == nil:
			return "there is none"
		case RevisionOf(rs) != revision:
			return "the newest is " + TellReplicaSet(rs)
		default:
			return ""
		}
	})
}

// UntilEvents waits for events about objects of a kind, as EventLine tells them.
func (s *Space) UntilEvents(kind string, lines ...string) *Story {
	s.T.Helper()
	return s.Until("events about the "+kind, func(st *Story) string {
		for _, line := range lines {
			if !st.hasEvent(kind, line) {
				return "there is no event " + line
			}
		}
		return ""
	})
}

// Bounds are the limits of a rollout, worked out by hand.
type Bounds struct {
	Most     int32 // sum of spec.replicas over all ReplicaSets
	Least    int32 // available Pods
	MinReady time.Duration
	Scaled   bool // the Deployment is scaled meanwhile: old ReplicaSets may grow with it
}

// Within runs a change during which the bounds must hold at every single step.
func (s *Space) Within(b Bounds, change func()) {
	s.T.Helper()
	most := s.Recorder.Enforce("the sizes of all ReplicaSets stay within the surge", func(st *Story) error {
		if sum := st.SumOfSizes(); sum > b.Most {
			return fmt.Errorf("the ReplicaSets want %d Pods together, but %d is the most", sum, b.Most)
		}
		return nil
	})
	least := s.Recorder.Enforce("enough Pods stay available", func(st *Story) error {
		if got := st.Available(b.MinReady, time.Now()); got < b.Least {
			return fmt.Errorf("%d Pods are available, but %d is the least", got, b.Least)
		}
		return nil
	})
	oldNeverGrow := s.Recorder.Enforce("an old ReplicaSet never grows", growthOfOld(b.Scaled))
	change()
	if err := errors.Join(s.Recorder.Repeal(most), s.Recorder.Repeal(least), s.Recorder.Repeal(oldNeverGrow)); err != nil {
		s.T.Errorf("during a rollout: %v", err)
	}
}

// growthOfOld is a rule: only the ReplicaSet with the highest revision may grow, unless
// others are allowed to.
func growthOfOld(allowed bool) func(*Story) error {
	sizes := map[string]int32{}
	return func(st *Story) error {
		highest := 0
		for _, rs := range st.ReplicaSets.Present() {
			highest = max(highest, RevisionOf(rs))
		}
		for _, rs := range st.ReplicaSets.Present() {
			size, known := sizes[rs.Name]
			sizes[rs.Name] = *rs.Spec.Replicas
			if known && !allowed && *rs.Spec.Replicas > size && RevisionOf(rs) < highest {
				return fmt.Errorf("ReplicaSet %s of revision %d grew from %d to %d", rs.Name, RevisionOf(rs), size, *rs.Spec.Replicas)
			}
		}
		return nil
	}
}

// WantConditionSeen fails unless a condition was seen at some time, with a message.
func (s *Space) WantConditionSeen(name string, kind appsv1.DeploymentConditionType, want, wantMessage string) {
	s.T.Helper()
	for _, sighting := range s.Recorder.Now().Deployments.Seen {
		got, message := ConditionOf(sighting.Object, kind)
		if sighting.Object.Name == name && got == want && message == wantMessage {
			return
		}
	}
	s.T.Errorf("condition %s of Deployment %s was never %q with the message %q", kind, name, want, wantMessage)
}

// StillWanted says which Pod is not being deleted, if one is not.
func StillWanted(st *Story) string {
	for _, pod := range st.Pods.Present() {
		if pod.DeletionTimestamp == nil {
			return pod.Name + " is not being deleted"
		}
	}
	return ""
}
