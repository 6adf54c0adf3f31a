package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/onsi/ginkgo/v2/types"
)

const (
	// fewest is how many specs there are at least. Without it, a run would pass that
	// found none, because they are called otherwise.
	fewest = 18

	// ofOurs matches the specs of the two loops, and ofClouds those of them that
	// run nowhere but in the named clouds.
	ofOurs   = `\[sig-apps\] (Deployment|ReplicaSet) `
	ofClouds = `\[Provider:`
)

// cannotPass are the specs that do not pass here under any controllers, and why.
func cannotPass() map[string]string {
	return map[string]string{
		"[sig-apps] ReplicaSet should serve a basic image on each replica with a public image [Conformance]": "it asks a container for an answer, and no container runs here",
	}
}

// suite is the program with the specs.
type suite struct{ path string }

// list returns the names of the specs of the two loops, in order.
func (s suite) list(ctx context.Context, folder string) ([]string, error) {
	path := filepath.Join(folder, "list.json")
	args := []string{"--kubeconfig=unused", "--provider=skeleton", "--ginkgo.dry-run", "--ginkgo.focus=" + ofOurs, "--ginkgo.skip=" + ofClouds, "--ginkgo.json-report=" + path}
	if output, err := exec.CommandContext(ctx, s.path, args...).CombinedOutput(); err != nil { //nolint:gosec // the program is the caller's
		return nil, fmt.Errorf("listing the specs: %w: %s", err, output)
	}
	report, err := readReport(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(report.SpecReports))
	for _, spec := range report.SpecReports {
		names = append(names, spec.FullText())
	}
	slices.Sort(names)
	return names, nil
}

// runArgs are the arguments for a run of one spec, which writes its report to a file.
func (s suite) runArgs(name, kubeconfig, report string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--provider=skeleton",
		// What is matched is the suite's description, and then the spec's name.
		"--ginkgo.focus=" + regexp.QuoteMeta(name) + "$",
		"--ginkgo.json-report=" + report,
		"--ginkgo.no-color",
		"--ginkgo.silence-skips",
		"--ginkgo.v", // so that what a spec says is in the report although it passed
	}
}

// readReport reads a report of Ginkgo's and leaves out what was not run.
func readReport(path string) (types.Report, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of ours
	if err != nil {
		return types.Report{}, fmt.Errorf("reading a report: %w", err)
	}
	var reports []types.Report // one for each suite of a run
	if err := json.Unmarshal(text, &reports); err != nil {
		return types.Report{}, fmt.Errorf("reading the report %s: %w", path, err)
	}
	if len(reports) != 1 {
		return types.Report{}, errors.New("reading the report " + path + ": it is not about one suite")
	}
	report := reports[0]
	ran := types.SpecReports{}
	for _, spec := range report.SpecReports {
		if spec.LeafNodeType == types.NodeTypeIt && spec.State != types.SpecStateSkipped {
			ran = append(ran, spec)
		}
	}
	report.SpecReports = ran
	return report, nil
}
