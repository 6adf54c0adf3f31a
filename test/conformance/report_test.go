package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2/types"
)

const hopeless = "[sig-apps] ReplicaSet should serve a basic image on each replica with a public image [Conformance]"

func spec(name string, state types.SpecState, failure string) types.SpecReport {
	return types.SpecReport{
		LeafNodeText: name, LeafNodeType: types.NodeTypeIt, State: state,
		RunTime: 1500 * time.Millisecond, Failure: types.Failure{Message: failure},
	}
}

// reportOf is a report in which so many specs passed.
func reportOf(passing int, others ...types.SpecReport) types.Report {
	report := types.Report{RunTime: time.Minute, SpecReports: others}
	for range passing {
		report.SpecReports = append(report.SpecReports, spec("it works", types.SpecStatePassed, ""))
	}
	return report
}

func TestEachSpecThatCanPassMust(t *testing.T) {
	serves := spec(hopeless, types.SpecStateFailed, "no answer\nfrom the pod")
	tests := map[string]struct {
		report types.Report
		want   []string // what is told, before where the report is
		fails  bool
	}{
		"all passed that can": {
			report: reportOf(17, serves),
			want:   []string{"17 of 18 specs pass under controller-manager (17 must), after 60 s"},
		},
		"one failed that passed before": {
			report: reportOf(16, serves, spec("rolls", types.SpecStateTimedout, "too\n  late")),
			want:   []string{"newly fails: rolls: too late", "16 of 18 specs pass under controller-manager (17 must), after 60 s"},
			fails:  true,
		},
		"one passed that could not": {
			report: reportOf(17, spec(hopeless, types.SpecStatePassed, "")),
			want:   []string{"newly passes: " + hopeless, "18 of 18 specs pass under controller-manager (17 must), after 60 s"},
		},
		"one passed that could not, and one failed that passed before": {
			report: reportOf(16, spec("rolls", types.SpecStateFailed, "too late"), spec(hopeless, types.SpecStatePassed, "")),
			want: []string{
				"newly passes: " + hopeless, "newly fails: rolls: too late",
				"17 of 18 specs pass under controller-manager (17 must), after 60 s",
			},
			fails: true,
		},
		"specs are gone": {
			report: reportOf(12),
			want:   []string{"12 of 12 specs pass under controller-manager (12 must), after 60 s"},
			fails:  true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var told []string
			options := Options{Folder: t.TempDir(), Log: func(format string, args ...any) {
				told = append(told, strings.TrimSpace(fmt.Sprintf(format, args...)))
			}}
			err := conclude(test.report, options)
			if (err != nil) != test.fails {
				t.Errorf("the error is %v, want one: %t", err, test.fails)
			}
			if diff := cmp.Diff(append(test.want, "the report is in "+options.Folder+": table.md and junit.xml"), told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			for _, file := range []string{"table.md", "junit.xml"} {
				if _, err := os.Stat(filepath.Join(options.Folder, file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestTheTableHasARowForEachSpec(t *testing.T) {
	report := reportOf(1, spec(hopeless, types.SpecStateFailed, "no answer\nfrom a|b"), spec("rolls", types.SpecStatePanicked, strings.Repeat("x", 300)))
	got := strings.Split(table(report, "controller-manager"), "\n")
	want := []string{
		"# Kubernetes' end-to-end tests of Deployments and ReplicaSets", "",
		"1 of 3 specs pass under controller-manager (2 must), after 60 s.", "",
		"| spec | result | seconds | why not |",
		"|---|---|---:|---|",
		"| " + hopeless + ` | failed | 1.5 | it asks a container for an answer, and no container runs here: no answer from a\|b |`,
		"| rolls | panicked | 1.5 | " + strings.Repeat("x", 200) + "... |",
		"| it works | passed | 1.5 |  |",
		"",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReportIsWhatWasRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	text := `[{"SpecReports": [
		{"LeafNodeType": "It", "State": "skipped", "LeafNodeText": "not asked for"},
		{"LeafNodeType": "BeforeSuite", "State": "passed", "LeafNodeText": "no spec"},
		{"LeafNodeType": "It", "State": "failed", "ContainerHierarchyTexts": ["a"], "LeafNodeText": "b"}
	]}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := readReport(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.SpecReports) != 1 || report.SpecReports[0].FullText() != "a b" || report.SpecReports[0].State != types.SpecStateFailed {
		t.Errorf("the report holds %v, want the one spec that was run", report.SpecReports)
	}
}

func TestASpecIsRunAloneWhateverItsNameHolds(t *testing.T) {
	args := suite{}.runArgs("[sig-apps] a (b) c", "kubeconfig", "report")
	if want := `--ginkgo.focus=\[sig-apps\] a \(b\) c$`; !strings.Contains(strings.Join(args, " "), want) {
		t.Errorf("the arguments are %q, want one to be %s", args, want)
	}
}
