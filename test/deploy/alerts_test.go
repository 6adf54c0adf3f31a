package deploy

import (
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"sigs.k8s.io/yaml"
)

// alerts are the rules of the PrometheusRule, as Prometheus itself reads and checks them.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(folder + "/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object struct{ Spec any }
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	spec, err := yaml.Marshal(object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(spec, false, model.LegacyValidation, queryParser(), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Fatal(err)
	}
	rules := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			rules[rule.Alert] = rule
		}
	}
	return rules
}

// TestAlerts feeds each rule with numbers by which it must fire, and such by which it must not.
// One value a minute is scraped.
func TestAlerts(t *testing.T) {
	const hour = 60 * time.Minute
	tests := []struct {
		when, alert string
		series      []string
		at          time.Duration
		want        []string // the labels of what fires
	}{
		{"none was ever there", "ControllerManagerDown", nil, hour, []string{`{}`}},
		{"the only one is down", "ControllerManagerDown",
			[]string{`up{job="controller-manager",instance="a"} 1x10 0x49`}, hour, []string{`{}`}},
		{"one of two is down", "ControllerManagerDown",
			[]string{`up{job="controller-manager",instance="a"} 0x60`, `up{job="controller-manager",instance="b"} 1x60`}, hour, nil},
		{"it is down for a moment", "ControllerManagerDown",
			[]string{`up{job="controller-manager",instance="a"} 1x56 0x3`}, hour, nil},

		{"both stand by", "ControllerManagerWithoutLeader",
			[]string{`leader_election_master_status{job="controller-manager",instance="a"} 0x60`, `leader_election_master_status{job="controller-manager",instance="b"} 1x30 0x30`},
			hour, []string{`{job="controller-manager"}`}},
		{"one leads, one stands by", "ControllerManagerWithoutLeader",
			[]string{`leader_election_master_status{job="controller-manager",instance="a"} 0x60`, `leader_election_master_status{job="controller-manager",instance="b"} 1x60`},
			hour, nil},
		{"they change places", "ControllerManagerWithoutLeader",
			[]string{`leader_election_master_status{job="controller-manager",instance="a"} 1x58 0x5`, `leader_election_master_status{job="controller-manager",instance="b"} 0x59 1x5`},
			hour, nil},
		{"kube-controller-manager stands by", "ControllerManagerWithoutLeader",
			[]string{`leader_election_master_status{job="kube-controller-manager",instance="a"} 0x60`}, hour, nil},

		{"both lead", "ControllerManagerTwoLeaders",
			[]string{`leader_election_master_status{job="controller-manager",instance="a"} 1x60`, `leader_election_master_status{job="controller-manager",instance="b"} 1x60`},
			hour, []string{`{job="controller-manager"}`}},
		{"one leads", "ControllerManagerTwoLeaders",
			[]string{`leader_election_master_status{job="controller-manager",instance="a"} 1x60`, `leader_election_master_status{job="controller-manager",instance="b"} 0x60`},
			hour, nil},

		{"a sync does not end", "ControllerManagerSyncHangs",
			[]string{
				`workqueue_longest_running_processor_seconds{job="controller-manager",name="deployment"} 0+60x60`,
				`workqueue_longest_running_processor_seconds{job="controller-manager",name="replicaset"} 0x60`,
			},
			hour, []string{`{job="controller-manager", name="deployment"}`}},
		{"a sync takes three minutes", "ControllerManagerSyncHangs",
			[]string{`workqueue_longest_running_processor_seconds{job="controller-manager",name="deployment"} 0x56 0+60x3`}, hour, nil},

		{"one in five waits for seconds", "ControllerManagerLate", waits(80), hour, []string{`{job="controller-manager", name="replicaset"}`}},
		{"one in twenty waits for seconds", "ControllerManagerLate", waits(95), hour, nil},
		{"nothing is to be done", "ControllerManagerLate", waits(0), 0, nil},

		{"three of four syncs fail", "ControllerManagerSyncsFail", failures("30", "40"), hour, []string{`{job="controller-manager", name="deployment"}`}},
		{"one of four syncs fails", "ControllerManagerSyncsFail", failures("10", "40"), hour, nil},
		{"one object is refused for good, and nothing else is to be done", "ControllerManagerSyncsFail", failures("2", "2"), hour, nil},

		{"a tenth of the requests meets no server", "ControllerManagerRequestsFail",
			requests("<error>", "100"), hour, []string{`{job="controller-manager"}`}},
		{"a tenth of the requests is answered 503", "ControllerManagerRequestsFail",
			requests("503", "100"), hour, []string{`{job="controller-manager"}`}},
		{"a hundredth of the requests is answered 503", "ControllerManagerRequestsFail", requests("503", "9"), hour, nil},
		{"a tenth of the requests is answered 409", "ControllerManagerRequestsFail", requests("409", "100"), hour, nil},

		{"another one writes in every minute", "ControllerManagerNotAlone",
			[]string{`controller_manager_foreign_status_writes_total{job="controller-manager",controller="deployment"} 0x50 1+1x9`},
			hour, []string{`{job="controller-manager"}`}},
		{"a person has edited two objects", "ControllerManagerNotAlone",
			[]string{
				`controller_manager_foreign_status_writes_total{job="controller-manager",controller="deployment"} 0x50 1x9`,
				`controller_manager_foreign_status_writes_total{job="controller-manager",controller="replicaset"} 0x50 1x9`,
			}, hour, nil},

		{"a sync has panicked", "ControllerManagerSyncPanics",
			[]string{`controller_manager_sync_panics_total{job="controller-manager",controller="deployment"} 0x50 1x9`},
			hour, []string{`{controller="deployment", job="controller-manager"}`}},
		{"a sync had panicked before", "ControllerManagerSyncPanics",
			[]string{`controller_manager_sync_panics_total{job="controller-manager",controller="deployment"} 0x10 1x49`}, hour, nil},

		{"Pods stay away", "ControllerManagerDegraded",
			[]string{`controller_manager_deployments{job="controller-manager",state="degraded"} 0x30 2x29`},
			hour, []string{`{job="controller-manager"}`}},
		{"Pods come back, and rollouts are stuck", "ControllerManagerDegraded", []string{
			`controller_manager_deployments{job="controller-manager",state="degraded"} 0x50 2x9`,
			`controller_manager_deployments{job="controller-manager",state="stuck"} 1x59`,
		}, hour, nil},
	}
	rules := alerts(t)
	fired, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests {
		t.Run(test.alert+", "+test.when, func(t *testing.T) {
			rule, ok := rules[test.alert]
			if !ok {
				t.Fatal("there is no such alert")
			}
			var all []series
			for _, text := range test.series {
				all = append(all, newSeries(t, text))
			}
			got := firing(t, all, rule.Expr, time.Duration(rule.For), test.at)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what fires (-want +got):\n%s", diff)
			}
			fired[test.alert] = fired[test.alert] || len(test.want) > 0
			silent[test.alert] = silent[test.alert] || len(test.want) == 0
		})
	}
	for name, rule := range rules {
		if !fired[name] || !silent[name] {
			t.Errorf("%s needs a case in which it fires, and one in which it does not", name)
		}
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s has no severity, summary or description", name)
		}
	}
}

// waits are a hundred objects a minute, of which the given part waits for less than a second
// and the others for less than ten.
func waits(quick int) []string {
	name := func(le string) string {
		return `workqueue_queue_duration_seconds_bucket{job="controller-manager",name="replicaset",le="` + le + `"} 0+`
	}
	return []string{name("1") + strconv.Itoa(quick) + "x60", name("10") + "100x60", name("+Inf") + "100x60"}
}

// failures are so many syncs a minute that fail, and so many in all. All are looked at again later, as in
// a rollout that has a deadline.
func failures(failed, all string) []string {
	return []string{
		`workqueue_work_duration_seconds_count{job="controller-manager",name="deployment"} 0+` + all + `x60`,
		`workqueue_retries_total{job="controller-manager",name="deployment"} 0+` + all + `x60`,
		`controller_manager_sync_failures_total{job="controller-manager",controller="deployment"} 0+` + failed + `x60`,
	}
}

// requests are 900 a minute that are answered well, and some with another code.
func requests(code, count string) []string {
	name := func(code string) string {
		return `rest_client_requests_total{job="controller-manager",method="PUT",code="` + code + `"} 0+`
	}
	return []string{name("200") + "900x60", name(code) + count + "x60"}
}
