package node

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	good := result{claim: "it starts", took: 3 * time.Second, transcript: "$ kubectl get pods\n"}
	bad := result{claim: "it stops", took: time.Minute, err: errors.New("it goes on")}
	tests := map[string]struct {
		report report
		passed bool
		want   []string // lines of the text
	}{
		"all steps pass": {
			report{wanted: 1, results: []result{good}, versions: []string{"kubelet v1"}, took: 4 * time.Second},
			true,
			[]string{"1 of 1 steps pass on a real node, after 4 s.", "- kubelet v1", "| it starts | ok | 3 |", "## it starts", "$ kubectl get pods"},
		},
		"a step fails": {
			report{wanted: 2, results: []result{good, bad}},
			false,
			[]string{"1 of 2 steps pass on a real node, after 0 s.", "| it stops | failed | 60 |", "Failed: it goes on"},
		},
		"a step is not reached": {report{wanted: 2, results: []result{good}}, false, nil},
		"there was no step":     {report{}, false, []string{"0 of 0 steps pass on a real node, after 0 s."}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.report.passed(); got != test.passed {
				t.Errorf("passed is %t, want %t", got, test.passed)
			}
			text := "\n" + test.report.markdown()
			for _, line := range test.want {
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("there is no line %q in %s", line, text)
				}
			}
		})
	}
}
