package e2e

import (
	"testing"

	"controller-manager/test/e2e/lab"
)

func TestNothingIsWrittenWhenThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 3))
	s.Complete("web")
	s.Edit("web", lab.Image("web:2"))
	pods := s.Complete("web").PodsOf(s.Recorder.Now().WithImage("web:2"))
	s.UntilWritten()

	mark := s.Lab.Mark(t)
	s.Kubectl("annotate", "pod/"+pods[0].Name, "note=x")
	s.Kubectl("label", "pod/"+pods[1].Name, "note=x")
	s.PatchPod(pods[2].Name, `{"status":{"message":"x"}}`, "status")
	s.Kubectl("label", "deployment/web", "note=x")
	s.UntilWritten()
	s.WantNoWrites(mark)
}
