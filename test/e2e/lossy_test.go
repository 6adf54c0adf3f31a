package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// TestOnALossyWire breaks requests and connections of the controllers.
func TestOnALossyWire(t *testing.T) {
	// A retry must not wait for the Pod to be seen that an earlier try may have made.
	const lag = 200 * time.Millisecond
	b := behindProxy(t, proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: "pods"}, Action: proxy.DelayAnswer(lag)})
	// Whatever becomes of the first creates, the number of Pods is right in the end.
	// kubernetes#67662.
	tests := map[string]struct {
		times  int
		action proxy.Action
		twice  bool // the built-in loops make a Pod again whose create was not answered
	}{
		"creates whose answers are lost":          {times: 3, action: proxy.LoseAnswer(), twice: true},
		"creates that never arrive":               {times: 3, action: proxy.Drop()},
		"creates that the server has no time for": {times: 3, action: proxy.Answer(apierrors.NewTimeoutError("too slow", 0))},
		"creates that trip the server":            {times: 3, action: proxy.Answer(apierrors.NewInternalError(fmt.Errorf("a fault")))},
		"creates under names that are taken":      {times: 10, action: proxy.Answer(apierrors.NewAlreadyExists(schema.GroupResource{Resource: "pods"}, "web"))},
		"creates that are told to wait":           {times: 3, action: proxy.Answer(apierrors.NewTooManyRequests("later", 1))},
	}
	t.Run("creates", func(t *testing.T) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := b.newSpace(t)
				rule := b.Act(t, proxy.Rule{
					Match: proxy.Match{Verb: "create", Resource: "pods", Namespace: s.Name},
					Times: test.times, Action: test.action,
				})
				s.wantSoManyPods(5, test.twice && !s.Lab.Ours)
				if got := rule.Hits(); got != test.times {
					t.Errorf("%d creates went wrong, want %d", got, test.times)
				}
			})
		}
	})
	t.Run("a rollout in a storm of other writers", func(t *testing.T) {
		b.newSpace(t).rollOutInAStorm(b.CutConnections)
	})
}

// wantSoManyPods creates a Deployment and waits until it has as many Pods as it should;
// unless surplus is allowed, it never had more.
func (s *space) wantSoManyPods(n int32, surplus bool) {
	s.T.Helper()
	s.Create(lab.NewDeployment("web", n))
	s.Complete("web")
	st := s.Until("the right number of Pods", func(st *lab.Story) string { return lab.WrongPods(st, n) })
	if !surplus {
		s.WantPodCreates(int(n))
	}
	for _, line := range st.EventsAbout("ReplicaSet", lab.WebReplicaSet) {
		if s.Lab.Ours && strings.Contains(line, "already exists") {
			s.T.Errorf("an event about a name that was taken: %s", line)
		}
	}
}

// rollOutInAStorm rolls out while another client annotates the Deployment and its
// ReplicaSets without a pause, and connections break. argo-rollouts#4073, #3316, #2522,
// #3080, #3331.
func (s *space) rollOutInAStorm(cut func()) {
	s.T.Helper()
	const size = 8
	s.Create(lab.NewDeployment("web", size, lab.Rolling("1", "1")))
	s.Complete("web")
	s.Within(lab.Bounds{Most: size + 1, Least: size - 1}, func() {
		generation := s.Edit("web", lab.Image("web:2")).Generation
		ctx, cancel := context.WithTimeout(s.T.Context(), lab.Patience)
		defer cancel()
		for gust := 1; lab.Incomplete(s.Deployment("web"), generation) != ""; gust++ {
			if ctx.Err() != nil {
				s.T.Fatal("the rollout does not end")
			}
			s.annotateAll(fmt.Sprint(gust))
			if gust%10 == 1 {
				cut()
			}
		}
	})
	st := s.Complete("web")
	if got := len(st.ReplicaSets.Now); got != 2 {
		s.T.Errorf("there are %d ReplicaSets, want 2", got)
	}
	s.UntilWritten()
	mark := s.Lab.Mark(s.T)
	s.UntilWritten()
	s.WantNoWrites(mark)
}

// annotateAll writes an annotation of another client's to the Deployment and all its
// ReplicaSets.
func (s *space) annotateAll(value string) {
	s.T.Helper()
	patch := []byte(fmt.Sprintf(`{"metadata":{"annotations":{"storm":%q}}}`, value))
	apps := s.Client.AppsV1()
	if _, err := apps.Deployments(s.Name).Patch(s.T.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.T.Fatalf("annotating the Deployment: %v", err)
	}
	for _, rs := range s.Recorder.Now().ReplicaSets.Present() {
		_, err := apps.ReplicaSets(s.Name).Patch(s.T.Context(), rs.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			s.T.Fatalf("annotating ReplicaSet %s: %v", rs.Name, err)
		}
	}
}
