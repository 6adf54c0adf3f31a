package better

import (
	"context"
	"fmt"
	"testing"
	"time"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// TestCreatesWhoseAnswersAreLost: kubernetes#67662. The API server makes the Pods, and whoever
// asked for them does not hear of it, until a watch that lags behind shows them.
func TestCreatesWhoseAnswersAreLost(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const size, lost, lag = 5, 3, 2 * time.Second
		b := l.BehindProxy(t, proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: "pods"}, Action: proxy.DelayAnswer(lag)})
		s := b.NewSpace(t)
		b.Act(t, proxy.Rule{
			Match: proxy.Match{Verb: "create", Resource: "pods", Namespace: s.Name},
			Times: lost, Action: proxy.LoseAnswer(),
		})
		s.Create(lab.NewDeployment("web", size))
		s.Complete("web")
		st := s.Until("the right number of Pods", func(st *lab.Story) string { return lab.WrongPods(st, size) })
		made := st.Pods.Born()
		return finding{
			fault: made > size,
			cell:  fmt.Sprintf("%d Pods made for %d wanted, after %d lost answers", made, size, lost),
		}
	})
}

// TestPodsReleasedAMomentAgo: PR kubernetes#138818. Pods are taken away from their ReplicaSet
// while it cannot see that, and it is made smaller by so many.
func TestPodsReleasedAMomentAgo(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const size, released = 20, 10
		var watch proxy.Gate
		b := l.BehindProxy(t, proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: "pods"}, Action: proxy.Hold(&watch)})
		alive, _ := b.NewSpace(t).ReleaseAndShrink(&watch, size, released)
		return finding{
			fault: alive < released,
			cell:  fmt.Sprintf("%d of %d released Pods live on", alive, released),
		}
	})
}

// TestPodsThatFailAtOnce: kubernetes#72593, #131116. A node refuses all Pods that it is given.
func TestPodsThatFailAtOnce(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		// The first 10 may be replaced at once, and then there are two waits, of 10 and 20 seconds.
		const size, most, period = 10, 4 * 10, 30 * time.Second
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", size, lab.Mode(localcluster.ModeFail)))
		began := time.Now()
		s.Poll("the time to pass", func(context.Context) string {
			if left := period - time.Since(began); left > 0 {
				return left.String()
			}
			return ""
		})
		made := s.Recorder.Now().Pods.Born()
		s.Edit("web", lab.Replicas(0))
		found := finding{cell: "they are replaced at once, and then with a pause that grows",
			counted: fmt.Sprintf("%d Pods made for %d wanted within %s", made, size, period)}
		if found.fault = made > most; found.fault {
			found.cell = "they are replaced without a pause"
		}
		return found
	})
}
