package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file are about rollouts to, from and over revisions that do not work.

// TestASurgePodThatFindsNoNodeTakesNoAvailabilityAway: with one Pod to a node, as many nodes
// as Pods, and maxUnavailable rounded down to 0, the rollout cannot go on. That is
// reported, and nothing is given up for it. kubernetes#116891, PR kubernetes#135993.
func TestASurgePodThatFindsNoNodeTakesNoAvailabilityAway(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.LabelNodes(3)
	s.Create(lab.NewDeployment("web", 3, lab.Rolling("25%", "25%"), lab.Deadline(5), lab.OneToANode(s.Name)))
	s.Complete("web")
	s.Within(lab.Bounds{Most: 4, Least: 3}, func() {
		s.Edit("web", lab.Image("web:2"))
		s.UntilCondition("web", appsv1.DeploymentProgressing, timedOut)
	})
	st := s.UntilEach("web:1=3 web:2=1")
	wantTimedOutAfter(t, st, 5*time.Second)
	if pods := st.PodsOf(st.WithImage("web:2")); len(pods) != 1 || pods[0].Spec.NodeName != "" {
		t.Errorf("the new Pods are %v, want one without a node", pods)
	}
	for _, sighting := range st.ReplicaSets.Seen {
		if rs := sighting.Object; rs.Spec.Template.Spec.Containers[0].Image == "web:2" && *rs.Spec.Replicas != 1 {
			t.Errorf("the new ReplicaSet had the size %d, want 1 all the time", *rs.Spec.Replicas)
		}
	}
	s.UntilWritten()
	mark := s.Lab.Mark(t)
	s.UntilWritten()
	s.WantNoWrites(mark)
}

// TestAFirstRevisionThatNeverWorkedIsReplaced: no Pod of it will ever be available, so none
// can be waited for. kubernetes#18435, #16737, PR kubernetes#20368.
func TestAFirstRevisionThatNeverWorkedIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 4, lab.Mode(localcluster.ModeNever)))
	s.UntilEach("web:1=4")
	s.Within(lab.Bounds{Most: 5}, func() {
		s.Edit("web", lab.Image("web:2"), lab.Mode(""))
		s.Complete("web")
	})
	s.WantPodCreates(4 + 4)
}

// TestTheHealthyOldRevisionGoesLast: the fix of a broken update replaces the broken Pods
// before it touches those that serve. kubernetes#18435, PR kubernetes#20368.
func TestTheHealthyOldRevisionGoesLast(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 4, lab.Rolling("1", "1")))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"), lab.Mode(localcluster.ModeNever))
	s.UntilEach("web:1=3 web:2=2")
	brokenFirst := s.Recorder.Enforce("the healthy ReplicaSet does not shrink while a broken one has Pods", func(st *lab.Story) error {
		if st.SizeOf("web:1") < 3 && st.SizeOf("web:2") > 0 {
			return errors.New("it has shrunk")
		}
		return nil
	})
	s.Within(lab.Bounds{Most: 5, Least: 3}, func() {
		s.Edit("web", lab.Image("web:3"), lab.Mode(""))
		s.Complete("web")
	})
	if err := s.Recorder.Repeal(brokenFirst); err != nil {
		t.Error(err)
	}
	s.UntilEach("web:1=0 web:2=0 web:3=4")
	s.WantPodCreates(4 + 2 + 4)
}

// TestScaleDownWhileTheNewRevisionIsBroken: each revision gives its share, so that the old
// one, which serves, is not given up for the broken one; and within a revision the Pod
// that is not ready goes first. kubernetes#40304, #72231, #70570.
func TestScaleDownWhileTheNewRevisionIsBroken(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 10, lab.Rolling("1", "1")))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"), lab.Mode(localcluster.ModeNever))
	st := s.UntilEach("web:1=9 web:2=2")
	unready := st.PodsOf(st.WithImage("web:1"))[0].Name
	s.MakeUnready(unready)
	s.Until("the old ReplicaSet to know of the unready Pod", func(st *lab.Story) string {
		if got := st.WithImage("web:1").Status.ReadyReplicas; got != 8 {
			return fmt.Sprintf("%d are ready", got)
		}
		return ""
	})
	// 3 Pods may be left of 11: 2 of the old 9 and 1 of the new 2. Then the rollout goes
	// on, as far as one available Pod must stay.
	s.Within(lab.Bounds{Most: 11, Least: 1}, func() {
		s.Kubectl("scale", "deployment/web", "--replicas=2")
		st = s.UntilEach("web:1=1 web:2=2")
	})
	if !sawSizes(st, 2, 1) {
		t.Error("the sizes never were 2 old and 1 new")
	}
	if st.Pods.Now[unready] != nil {
		t.Error("the Pod that was not ready is the one that is left")
	}
	s.WantPodCreates(10 + 2 + 1)
}

// sawSizes says whether the ReplicaSets of web:1 and web:2 had these sizes at one time.
func sawSizes(st *lab.Story, old, fresh int32) bool {
	var replay lab.Story
	for _, sighting := range st.ReplicaSets.Seen {
		replay.ReplicaSets.Add(sighting)
		if replay.SizeOf("web:1") == old && replay.SizeOf("web:2") == fresh {
			return true
		}
	}
	return false
}
