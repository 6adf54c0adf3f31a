package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"controller-manager/localcluster"
)

// families reads the metrics of a process.
func (s *space) families(reader reader, url string) map[string]*dto.MetricFamily {
	s.t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(reader.read(s.t, url+"/metrics", "").body))
	if err != nil {
		s.t.Fatalf("reading the metrics of %s: %v", url, err)
	}
	return families
}

// TestNoMetricNamesAnObject lets the process do all kinds of work, some of it in vain, with
// objects of names that are nowhere else.
func TestNoMetricNamesAnObject(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if !s.lab.ours {
		t.Log("this is about our program: there is nothing to compare")
		return
	}
	s.limit(corev1.ResourcePods, 4)
	s.create(newDeployment("teapot", 2))
	s.complete("teapot")
	s.edit("teapot", image("web:2"), replicas(3))
	s.complete("teapot")
	s.edit("teapot", replicas(6))
	s.until("Pods to be refused", func(st *story) string {
		if rs := st.withImage("web:2"); rs == nil || len(rs.Status.Conditions) == 0 {
			return "no ReplicaFailure"
		}
		return ""
	})
	reader := s.mayReadAll(s.lab.process.URL + "/metrics")
	families := s.families(reader, s.lab.process.URL)
	labels := 0
	for name, family := range families {
		for _, metric := range family.Metric {
			for _, label := range metric.Label {
				labels++
				for _, secret := range []string{s.name, "teapot"} {
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

// TestMetricsHaveTheNamesOfTheBuiltInOnes compares the families that both have, because
// dashboards and alerts match on them.
func TestMetricsHaveTheNamesOfTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if !s.lab.ours {
		t.Log("this is about our program: there is nothing to compare")
		return
	}
	s.create(newDeployment("web", 2))
	s.complete("web")
	ours, builtin := s.lab.process.URL, s.lab.cluster.Component(localcluster.ControllerManager).URL
	reader := s.mayReadAll(ours+"/metrics", builtin+"/metrics")
	got, want := s.families(reader, ours), s.families(reader, builtin)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if !shared(name) {
			continue
		}
		if want[name] == nil {
			t.Errorf("the built-in has no %s", name)
		} else if a, b := outline(want[name]), outline(got[name]); a != b {
			t.Errorf("%s is %s, want %s", name, b, a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if shared(name) && !extra(name) && got[name] == nil {
			t.Errorf("the built-in has %s, and we do not", name)
		}
	}
	for _, queue := range []string{"deployment", "replicaset"} {
		if !slices.ContainsFunc(got["workqueue_adds_total"].GetMetric(), func(m *dto.Metric) bool {
			return m.Label[0].GetName() == "name" && m.Label[0].GetValue() == queue && m.Counter.GetValue() > 0
		}) {
			t.Errorf("no workqueue_adds_total{name=%q} above 0", queue)
		}
	}
	if leads := got["leader_election_master_status"].GetMetric(); len(leads) != 1 || outline(got["leader_election_master_status"]) != "GAUGE name" {
		t.Errorf("leader_election_master_status is %v", leads)
	}
}

// shared says that a family is one that client-go, Go or the process has in both.
func shared(name string) bool {
	for _, prefix := range []string{"workqueue_", "rest_client_", "go_", "process_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// extra says that a family is one that the built-in has and we have not on purpose: each
// number that the Go runtime keeps, plugins for credentials, and connections that clients
// share, of which we have none.
func extra(name string) bool {
	for _, prefix := range []string{"go_", "rest_client_exec_plugin_", "rest_client_transport_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
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
