package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/localcluster"
)

// The tests in this file are about rollouts to, from and over revisions that do not work.

// sizeOf is the size of the ReplicaSet with an image; -1 without one.
func (st *story) sizeOf(image string) int32 {
	if rs := st.withImage(image); rs != nil {
		return *rs.Spec.Replicas
	}
	return -1
}

// TestASurgePodThatFindsNoNodeTakesNoAvailabilityAway: with one Pod to a node, as many nodes
// as Pods, and maxUnavailable rounded down to 0, the rollout cannot go on. That is
// reported, and nothing is given up for it. kubernetes#116891, PR kubernetes#135993.
func TestASurgePodThatFindsNoNodeTakesNoAvailabilityAway(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.labelNodes(3)
	s.create(newDeployment("web", 3, rolling("25%", "25%"), deadline(5), oneToANode(s.name)))
	s.complete("web")
	s.within(bounds{most: 4, least: 3}, func() {
		s.edit("web", image("web:2"))
		s.untilCondition("web", appsv1.DeploymentProgressing, timedOut)
	})
	st := s.untilEach("web:1=3 web:2=1")
	wantTimedOutAfter(t, st, 5*time.Second)
	if pods := st.podsOf(st.withImage("web:2")); len(pods) != 1 || pods[0].Spec.NodeName != "" {
		t.Errorf("the new Pods are %v, want one without a node", pods)
	}
	for _, sighting := range st.replicaSets.seen {
		if rs := sighting.object; rs.Spec.Template.Spec.Containers[0].Image == "web:2" && *rs.Spec.Replicas != 1 {
			t.Errorf("the new ReplicaSet had the size %d, want 1 all the time", *rs.Spec.Replicas)
		}
	}
	s.untilWritten()
	mark := s.lab.mark(t)
	s.untilWritten()
	s.wantNoWrites(mark)
}

// labelNodes gives n nodes a label with the namespace's name.
func (s *space) labelNodes(n int) {
	s.t.Helper()
	nodes := s.client.CoreV1().Nodes()
	label := func(ctx context.Context, node, value string) error {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, s.name, value)
		_, err := nodes.Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	for i := range n {
		node := fmt.Sprintf("kwok-node-%d", i)
		if err := label(s.t.Context(), node, `""`); err != nil {
			s.t.Fatalf("labeling Node %s: %v", node, err)
		}
		s.t.Cleanup(func() {
			if err := label(context.WithoutCancel(s.t.Context()), node, "null"); err != nil {
				s.t.Errorf("taking the label off Node %s: %v", node, err)
			}
		})
	}
}

// oneToANode keeps the Pods on the nodes with a label, and from each other's.
func oneToANode(label string) edit {
	return func(d *appsv1.Deployment) {
		spec := &d.Spec.Template.Spec
		spec.NodeSelector = map[string]string{label: ""}
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				LabelSelector: d.Spec.Selector, TopologyKey: corev1.LabelHostname,
			}},
		}}
	}
}

// TestAFirstRevisionThatNeverWorkedIsReplaced: no Pod of it will ever be available, so none
// can be waited for. kubernetes#18435, #16737, PR kubernetes#20368.
func TestAFirstRevisionThatNeverWorkedIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 4, mode(localcluster.ModeNever)))
	s.untilEach("web:1=4")
	s.within(bounds{most: 5}, func() {
		s.edit("web", image("web:2"), mode(""))
		s.complete("web")
	})
	s.wantPodCreates(4 + 4)
}

// TestTheHealthyOldRevisionGoesLast: the fix of a broken update replaces the broken Pods
// before it touches those that serve. kubernetes#18435, PR kubernetes#20368.
func TestTheHealthyOldRevisionGoesLast(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 4, rolling("1", "1")))
	s.complete("web")
	s.edit("web", image("web:2"), mode(localcluster.ModeNever))
	s.untilEach("web:1=3 web:2=2")
	brokenFirst := s.recorder.enforce("the healthy ReplicaSet does not shrink while a broken one has Pods", func(st *story) error {
		if st.sizeOf("web:1") < 3 && st.sizeOf("web:2") > 0 {
			return errors.New("it has shrunk")
		}
		return nil
	})
	s.within(bounds{most: 5, least: 3}, func() {
		s.edit("web", image("web:3"), mode(""))
		s.complete("web")
	})
	if err := s.recorder.repeal(brokenFirst); err != nil {
		t.Error(err)
	}
	s.untilEach("web:1=0 web:2=0 web:3=4")
	s.wantPodCreates(4 + 2 + 4)
}

// TestScaleDownWhileTheNewRevisionIsBroken: each revision gives its share, so that the old
// one, which serves, is not given up for the broken one; and within a revision the Pod
// that is not ready goes first. kubernetes#40304, #72231, #70570.
func TestScaleDownWhileTheNewRevisionIsBroken(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 10, rolling("1", "1")))
	s.complete("web")
	s.edit("web", image("web:2"), mode(localcluster.ModeNever))
	st := s.untilEach("web:1=9 web:2=2")
	unready := st.podsOf(st.withImage("web:1"))[0].Name
	s.makeUnready(unready)
	s.until("the old ReplicaSet to know of the unready Pod", func(st *story) string {
		if got := st.withImage("web:1").Status.ReadyReplicas; got != 8 {
			return fmt.Sprintf("%d are ready", got)
		}
		return ""
	})
	// 3 Pods may be left of 11: 2 of the old 9 and 1 of the new 2. Then the rollout goes
	// on, as far as one available Pod must stay.
	s.within(bounds{most: 11, least: 1}, func() {
		s.kubectl("scale", "deployment/web", "--replicas=2")
		st = s.untilEach("web:1=1 web:2=2")
	})
	if !sawSizes(st, 2, 1) {
		t.Error("the sizes never were 2 old and 1 new")
	}
	if st.pods.now[unready] != nil {
		t.Error("the Pod that was not ready is the one that is left")
	}
	s.wantPodCreates(10 + 2 + 1)
}

// sawSizes says whether the ReplicaSets of web:1 and web:2 had these sizes at one time.
func sawSizes(st *story, old, fresh int32) bool {
	var replay story
	for _, sighting := range st.replicaSets.seen {
		replay.replicaSets.add(sighting)
		if replay.sizeOf("web:1") == old && replay.sizeOf("web:2") == fresh {
			return true
		}
	}
	return false
}
