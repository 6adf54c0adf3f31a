package e2e

import (
	"fmt"
	"strings"
	"testing"

	"controller-manager/test/e2e/lab"
)

const changeCause = "kubernetes.io/change-cause"

func TestTheHistoryIsLimited(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1, lab.HistoryLimit(2)))
	s.Complete("web")
	for revision := 2; revision <= 5; revision++ {
		s.Edit("web", lab.Image(fmt.Sprintf("web:%d", revision)))
		s.Complete("web")
	}
	st := s.Until("the history to be trimmed", func(st *lab.Story) string { return wrongReplicaSets(st, 3) })
	for _, kept := range []int{3, 4, 5} {
		if rs := st.WithImage(fmt.Sprintf("web:%d", kept)); rs == nil || lab.RevisionOf(rs) != kept {
			t.Errorf("the ReplicaSet of revision %d was not kept", kept)
		}
	}
	s.Edit("web", lab.HistoryLimit(0))
	s.Until("no history", func(st *lab.Story) string { return wrongReplicaSets(st, 1) })
}

// wrongReplicaSets says how the number of ReplicaSets differs from the wanted one.
func wrongReplicaSets(st *lab.Story, want int) string {
	if got := len(st.ReplicaSets.Now); got != want {
		return fmt.Sprintf("there are %d ReplicaSets, want %d", got, want)
	}
	return ""
}

// TestTheChangeCauseComesBackWithAnUndo: kubernetes#23087.
func TestTheChangeCauseComesBackWithAnUndo(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1, lab.Annotated(changeCause, "c1")))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"), lab.Annotated(changeCause, "c2"))
	s.Complete("web")
	s.Kubectl("rollout", "undo", "deployment/web")
	s.wantRevision(3, "web:1")
	s.Until("the change-cause of the newest revision", func(st *lab.Story) string {
		if got := st.Newest("web").Annotations[changeCause]; got != "c1" {
			return "it is " + got
		}
		return ""
	})
	history := s.Kubectl("rollout", "history", "deployment/web")
	if want := "2 c2 3 c1"; !strings.Contains(strings.Join(strings.Fields(history), " "), want) {
		t.Errorf("the history lacks %q:\n%s", want, history)
	}
}

// TestAnnotationsAreCopiedToTheNewReplicaSetOnly: website#53891.
func TestAnnotationsAreCopiedToTheNewReplicaSetOnly(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1, lab.Annotated("team", "blue")))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
	s.Kubectl("annotate", "deployment/web", "team=red", "more=x", "--overwrite")
	st := s.Until("the annotations to arrive", func(st *lab.Story) string {
		if got := st.WithImage("web:2").Annotations; got["team"] != "red" || got["more"] != "x" {
			return fmt.Sprintf("they are %v", got)
		}
		return ""
	})
	if got := st.WithImage("web:1").Annotations; got["team"] != "blue" || got["more"] != "" {
		t.Errorf("the annotations of the old ReplicaSet are %v, want them as they were", got)
	}
	if revision := lab.RevisionOf(st.Deployments.Now["web"]); revision != 2 || len(st.ReplicaSets.Now) != 2 {
		t.Errorf("there are %d ReplicaSets and revision %d, want an annotation to make no new one", len(st.ReplicaSets.Now), revision)
	}
}

func TestARevisionThatIsNoNumberStallsNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 1))
	s.Complete("web")
	s.Kubectl("annotate", "replicaset/"+lab.WebReplicaSet, lab.RevisionAnnotation+"=garbage", "--overwrite")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
}
