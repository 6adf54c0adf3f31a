package e2e

import (
	"fmt"
	"strings"
	"testing"
)

const changeCause = "kubernetes.io/change-cause"

func TestTheHistoryIsLimited(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1, historyLimit(2)))
	s.complete("web")
	for revision := 2; revision <= 5; revision++ {
		s.edit("web", image(fmt.Sprintf("web:%d", revision)))
		s.complete("web")
	}
	st := s.until("the history to be trimmed", func(st *story) string { return wrongReplicaSets(st, 3) })
	for _, kept := range []int{3, 4, 5} {
		if rs := st.withImage(fmt.Sprintf("web:%d", kept)); rs == nil || revisionOf(rs) != kept {
			t.Errorf("the ReplicaSet of revision %d was not kept", kept)
		}
	}
	s.edit("web", historyLimit(0))
	s.until("no history", func(st *story) string { return wrongReplicaSets(st, 1) })
}

// wrongReplicaSets says how the number of ReplicaSets differs from the wanted one.
func wrongReplicaSets(st *story, want int) string {
	if got := len(st.replicaSets.now); got != want {
		return fmt.Sprintf("there are %d ReplicaSets, want %d", got, want)
	}
	return ""
}

// TestTheChangeCauseComesBackWithAnUndo: kubernetes#23087.
func TestTheChangeCauseComesBackWithAnUndo(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1, annotated(changeCause, "c1")))
	s.complete("web")
	s.edit("web", image("web:2"), annotated(changeCause, "c2"))
	s.complete("web")
	s.kubectl("rollout", "undo", "deployment/web")
	s.wantRevision(3, "web:1")
	s.until("the change-cause of the newest revision", func(st *story) string {
		if got := st.newest("web").Annotations[changeCause]; got != "c1" {
			return "it is " + got
		}
		return ""
	})
	history := s.kubectl("rollout", "history", "deployment/web")
	if want := "2 c2 3 c1"; !strings.Contains(strings.Join(strings.Fields(history), " "), want) {
		t.Errorf("the history lacks %q:\n%s", want, history)
	}
}

// TestAnnotationsAreCopiedToTheNewReplicaSetOnly: website#53891.
func TestAnnotationsAreCopiedToTheNewReplicaSetOnly(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1, annotated("team", "blue")))
	s.complete("web")
	s.edit("web", image("web:2"))
	s.complete("web")
	s.kubectl("annotate", "deployment/web", "team=red", "more=x", "--overwrite")
	st := s.until("the annotations to arrive", func(st *story) string {
		if got := st.withImage("web:2").Annotations; got["team"] != "red" || got["more"] != "x" {
			return fmt.Sprintf("they are %v", got)
		}
		return ""
	})
	if got := st.withImage("web:1").Annotations; got["team"] != "blue" || got["more"] != "" {
		t.Errorf("the annotations of the old ReplicaSet are %v, want them as they were", got)
	}
	if revision := revisionOf(st.deployments.now["web"]); revision != 2 || len(st.replicaSets.now) != 2 {
		t.Errorf("there are %d ReplicaSets and revision %d, want an annotation to make no new one", len(st.replicaSets.now), revision)
	}
}

func TestARevisionThatIsNoNumberStallsNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(newDeployment("web", 1))
	s.complete("web")
	s.kubectl("annotate", "replicaset/"+webReplicaSet, revisionAnnotation+"=garbage", "--overwrite")
	s.edit("web", image("web:2"))
	s.complete("web")
}
