package better

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// TestScalingWithoutSurge: kubernetes#102551. A Deployment without surge is scaled to the size
// that its old ReplicaSet has at that moment. What widens the moment is a watch of
// ReplicaSets that stands still from when the old one is made smaller.
func TestScalingWithoutSurge(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		var replicaSets proxy.Gate
		b := l.BehindProxy(t, proxy.Rule{Match: proxy.Match{Verb: "watch", Resource: "replicasets"}, Action: proxy.Hold(&replicaSets)})
		s := b.NewSpace(t)
		s.Create(lab.NewDeployment("web", 5, lab.Rolling("0", "1")))
		old := s.Complete("web").Newest("web").Name
		shut := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				replicaSets.Shut()
				next.ServeHTTP(w, r)
			})
		}
		for _, verb := range []string{"update", "patch"} {
			rule := b.Add(proxy.Rule{Match: proxy.Match{Verb: verb, Resource: "replicasets", Namespace: s.Name, Name: old}, Times: 1, Action: shut})
			t.Cleanup(rule.Remove)
		}
		t.Cleanup(replicaSets.Open)
		s.Edit("web", lab.Image("web:2"))
		s.Until("the old ReplicaSet with 4", func(st *lab.Story) string {
			if st.SizeOf("web:1") != 4 || st.SizeOf("web:2") != 0 {
				return lab.TellSizes(st, "web")
			}
			return ""
		})
		s.Edit("web", lab.Replicas(4))
		// Deployments are seen in order: what is made later is seen later.
		s.Create(lab.NewDeployment("later", 1, lab.Image("later:1")))
		s.Until("a ReplicaSet that is made later", func(st *lab.Story) string {
			if st.Newest("later") == nil {
				return "there is none"
			}
			return ""
		})
		replicaSets.Open()
		s.Complete("later")
		return ended(s, 4)
	})
}

// ended waits until nothing more happens and says what the rollout from web:1 to web:2 has
// come to. One that has not reached its end by then has the fault: not even a change
// of the Deployment that plays no part brings it on.
func ended(s *lab.Space, want int32) finding {
	s.T.Helper()
	untilStill(s)
	s.Kubectl("annotate", "deployment/web", "note=x")
	untilStill(s)
	st := s.Recorder.Now()
	sizes := fmt.Sprintf("%d old and %d new Pods", st.SizeOf("web:1"), st.SizeOf("web:2"))
	if st.SizeOf("web:1") == 0 && st.SizeOf("web:2") == want {
		return finding{cell: "goes on to " + sizes}
	}
	return finding{fault: true, cell: "stays at " + sizes + " for good"}
}

// untilStill waits until the controllers have nothing more to do: until they wrote nothing
// during a whole rollout elsewhere.
func untilStill(s *lab.Space) {
	s.T.Helper()
	for {
		mark := s.Lab.Mark(s.T)
		s.UntilWritten()
		if len(s.Writes(mark)) == 0 {
			return
		}
	}
}

// TestRecreateAndAnotherSizeInOneEdit: kubernetes#125568, in the middle of a rollout that does
// not get on.
func TestRecreateAndAnotherSizeInOneEdit(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", 10, lab.Rolling("3", "2")))
		s.Complete("web")
		s.Edit("web", lab.Image("web:2"), lab.Mode(localcluster.ModeNever))
		s.UntilEach("web:1=8 web:2=5")
		s.Edit("web", lab.Recreate(), lab.Replicas(11))
		return ended(s, 11)
	})
}

// TestTheLargestSize: a size and a surge that have a sum beyond 32 bits. A quota keeps the Pods
// few.
func TestTheLargestSize(t *testing.T) {
	prove(t, func(t *testing.T, l *lab.Lab) finding {
		const allowed = 5
		s := l.NewSpace(t)
		s.Limit(corev1.ResourcePods, allowed)
		s.Create(lab.NewDeployment("web", math.MaxInt32, lab.Rolling("100%", "0")))
		s.UntilDeployment("web", "to be looked at", func(d *appsv1.Deployment) string {
			if d.Status.ObservedGeneration == 0 {
				return "it was not"
			}
			return ""
		})
		s.UntilWritten()
		s.UntilWritten()
		st := s.Recorder.Now()
		rs := st.Newest("web")
		return finding{
			fault: len(st.Pods.Now) != allowed,
			cell: fmt.Sprintf("a ReplicaSet of size %d with the annotation max-replicas %s, and %d of the %d Pods that the quota allows",
				*rs.Spec.Replicas, rs.Annotations["deployment.kubernetes.io/max-replicas"], len(st.Pods.Now), allowed),
		}
	})
}
