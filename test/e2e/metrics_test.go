package e2e

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/test/e2e/lab"
)

// families reads the metrics of a process.
func (s *space) families(reader reader, url string) map[string]*dto.MetricFamily {
	s.T.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(reader.read(s.T, url+"/metrics", "").body))
	if err != nil {
		s.T.Fatalf("reading the metrics of %s: %v", url, err)
	}
	return families
}

// TestNoMetricNamesAnObject lets the process do all kinds of work, some of it in vain, with
// objects of names that are nowhere else.
func TestNoMetricNamesAnObject(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	s.Limit(corev1.ResourcePods, 4)
	s.Create(lab.NewDeployment("teapot", 2))
	s.Complete("teapot")
	s.Edit("teapot", lab.Image("web:2"), lab.Replicas(3))
	s.Complete("teapot")
	s.Edit("teapot", lab.Replicas(6))
	s.Until("Pods to be refused", func(st *lab.Story) string {
		if rs := st.WithImage("web:2"); rs == nil || len(rs.Status.Conditions) == 0 {
			return "no ReplicaFailure"
		}
		return ""
	})
	reader := s.mayReadAll(s.Lab.Process.URL + "/metrics")
	families := s.families(reader, s.Lab.Process.URL)
	labels := 0
	for name, family := range families {
		for _, metric := range family.Metric {
			for _, label := range metric.Label {
				labels++
				for _, secret := range []string{s.Name, "teapot"} {
					if strings.Contains(label.GetValue(), secret) {
						t.Errorf("%s{%s=%q} holds the name %s", name, label.GetName(), label.GetValue(), secret)
					}
				}
			}
		}
	}
	if labels < 30 {
		t.Errorf("there are %d labels in all; were the metrics read?", labels)
	}
}

// TestTheMetricsServedAreThoseWrittenDown holds the process under test against the table of
// docs/metrics.md, which is made without a process.
func TestTheMetricsServedAreThoseWrittenDown(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for _, cells := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (.*?) \\|").FindAllStringSubmatch(string(text), -1) {
		written[cells[1]] = strings.ToUpper(cells[2]) + " " + strings.ReplaceAll(cells[3], " ", "")
	}
	for name, family := range s.families(s.mayReadAll(s.Lab.Process.URL+"/metrics"), s.Lab.Process.URL) {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
			continue
		}
		if diff := cmp.Diff(written[name], outline(family)); diff != "" {
			t.Errorf("%s (-docs/metrics.md +served):\n%s", name, diff)
		}
	}
}

// TestMetricsHaveTheNamesOfTheBuiltInOnes compares the families that both have, because
// dashboards and alerts match on them: with a kube-controller-manager that runs the same
// two loops and elects a leader. It is alone on the cluster meanwhile.
func TestMetricsHaveTheNamesOfTheBuiltInOnes(t *testing.T) {
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	s.Create(lab.NewDeployment("web", 2))
	s.Complete("web")
	reader := s.mayReadAll(s.Lab.Process.URL + "/metrics")
	got := s.outlines(reader, s.Lab.Process.URL)
	s.StandAside()
	builtin := s.Lab.LaunchBuiltin(t, "--leader-elect=true", "--leader-elect-resource-name=built-in-loops")
	s.Edit("web", lab.Image("web:2"))
	s.Complete("web")
	want := s.outlines(reader, builtin.URL)

	absent := 0
	for _, left := range leftOut() {
		if mine := namesLike(got, left.names); len(mine) > 0 {
			t.Errorf("the list of what we leave out names %s, but we have %s", left.names, mine)
		}
		theirs := namesLike(want, left.names)
		if len(theirs) == 0 {
			t.Errorf("the list of what we leave out names %s, but the built-in has none", left.names)
		}
		for _, name := range theirs {
			delete(want, name)
		}
		absent += len(theirs)
	}
	// These are there only once they have counted something, which may happen or not.
	for _, name := range []string{"replicaset_controller_stale_sync_skips_total", "rest_client_request_retries_total"} {
		if want[name] == "" || got[name] == "" {
			delete(want, name)
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types and labels of the families (-built-in +ours):\n%s", diff)
	}
	report("metric names: %d families as the built-in loops have them, %d of theirs not here on purpose", len(got), absent)
}

// outlines are the types and labels of the families that the two have in common, after
// their work; of queues, those of the two loops.
func (s *space) outlines(reader reader, url string) map[string]string {
	s.T.Helper()
	outlines := map[string]string{}
	for name, family := range s.families(reader, url) {
		for _, metric := range family.Metric {
			if shared(name) && (!strings.HasPrefix(name, "workqueue_") || isLoop(metric)) {
				outlines[name] = outline(family)
			}
		}
	}
	return outlines
}

// isLoop says that a metric of a queue is that of one of the two loops.
func isLoop(metric *dto.Metric) bool {
	return slices.ContainsFunc(metric.Label, func(label *dto.LabelPair) bool {
		return label.GetName() == "name" && (label.GetValue() == "deployment" || label.GetValue() == "replicaset")
	})
}

// shared says that a family is of a kind that both have: of client-go, Go, the process or
// one of the loops.
func shared(name string) bool {
	for _, prefix := range []string{"workqueue_", "rest_client_", "leader_election_", "go_", "process_", "deployment_controller_", "replicaset_controller_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// omission is a kind of families that the built-in has and we have not on purpose.
type omission struct {
	names string // with * for any text
	why   string
}

func leftOut() []omission {
	return []omission{
		{names: "rest_client_exec_plugin_*", why: "we run no plugins for credentials"},
		{names: "rest_client_transport_*", why: "our clients share no connections that could be counted"},
	}
}

// namesLike are the names that fit a pattern, in order.
func namesLike(families map[string]string, pattern string) []string {
	var names []string
	for name := range families {
		if fits, err := path.Match(pattern, name); err == nil && fits {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// outline is the type of a family and the names of its labels.
func outline(family *dto.MetricFamily) string {
	var labels []string
	for _, label := range family.Metric[0].Label {
		labels = append(labels, label.GetName())
	}
	slices.Sort(labels)
	return fmt.Sprint(family.GetType(), " ", strings.Join(labels, ","))
}
