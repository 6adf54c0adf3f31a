package deploy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	dto "github.com/prometheus/client_model/go"
)

// dashboard is what we read of a Grafana dashboard.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

// queries are all of the alerts and of the dashboard, by where they stand.
func queries(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, rule := range alerts(t) {
		all[name] = rule.Expr
	}
	text, err := os.ReadFile(folder + "/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board dashboard
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	// What Grafana puts in.
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "controller-manager")
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			all[panel.Title+": "+target.Expr] = variables.Replace(target.Expr)
		}
	}
	return all
}

// TestEveryQueryAsksForAMetricThatIsThere holds the queries against the program's real
// /metrics, after it has worked: names, labels and the values of labels.
func TestEveryQueryAsksForAMetricThatIsThere(t *testing.T) {
	l := getLab(t)
	kubeconfig, err := l.cluster.Kubeconfig(ourAccount, "system:serviceaccounts", "system:serviceaccounts:kube-system")
	if err != nil {
		t.Fatal(err)
	}
	process := l.launch(t, "measured", inCluster, kubeconfig)
	w := l.newWork(t, "measured")
	w.create("web:1")
	w.complete("web:1", 1)
	textParser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := textParser.TextToMetricFamilies(strings.NewReader(l.metrics(t, "measured", process.URL)))
	if err != nil {
		t.Fatal(err)
	}
	all := queries(t)
	if len(all) < 25 {
		t.Errorf("there are only %d queries", len(all))
	}
	for where, query := range all {
		expr, err := queryParser().ParseExpr(query)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		for _, selector := range parser.ExtractSelectors(expr) {
			if missing := lacks(families, selector); missing != "" {
				t.Errorf("%s: there is no %s", where, missing)
			}
		}
	}
}

// lacks says what of a selector is not among the metrics, "" if all is. What only Prometheus
// itself adds is not looked for, and of the codes of answers those of failures are missing.
func lacks(families map[string]*dto.MetricFamily, selector []*labels.Matcher) string {
	var name string
	for _, matcher := range selector {
		if matcher.Name == model.MetricNameLabel {
			name = matcher.Value
		}
	}
	if name == "up" {
		return ""
	}
	family := families[name]
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, found := strings.CutSuffix(name, suffix); found && families[base] != nil {
			family = families[base]
		}
	}
	if family == nil {
		return name
	}
	for _, matcher := range selector {
		switch matcher.Name {
		case model.MetricNameLabel, "job", "code":
			continue
		}
		if !anyMatches(family, matcher) {
			return name + "{" + matcher.String() + "}"
		}
	}
	return ""
}

func anyMatches(family *dto.MetricFamily, matcher *labels.Matcher) bool {
	for _, metric := range family.Metric {
		for _, label := range metric.Label {
			if label.GetName() == matcher.Name && matcher.Matches(label.GetValue()) {
				return true
			}
		}
	}
	return false
}
