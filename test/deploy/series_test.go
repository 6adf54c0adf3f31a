package deploy

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// step is the time between two scrapes, and between two evaluations of the rules.
const step = time.Minute

// series are numbers over time, for the query engine of Prometheus. The first is of the time 0.
type series struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// newSeries reads a series in the notation of Prometheus' own rule tests, such as
// up{job="x"} 0 1x3.
func newSeries(t *testing.T, text string) series {
	t.Helper()
	name, values, err := queryParser().ParseSeriesDesc(text)
	if err != nil {
		t.Fatalf("reading the series %q: %v", text, err)
	}
	s := series{labels: name}
	for i, value := range values {
		if !value.Omitted {
			s.samples = append(s.samples, sample{int64(i) * step.Milliseconds(), value.Value})
		}
	}
	return s
}

func queryParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// sample is a number at a time in milliseconds.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// selected is the answer to a selector.
type selected struct {
	all  []series
	next int
}

func (s *selected) Next() bool {
	s.next++
	return s.next <= len(s.all)
}

func (s *selected) At() storage.Series {
	one := s.all[s.next-1]
	return storage.NewListSeries(one.labels, one.samples)
}

func (s *selected) Err() error                        { return nil }
func (s *selected) Warnings() annotations.Annotations { return nil }

// evaluate returns what an expression yields at each step from 0 to the end.
func evaluate(t *testing.T, all []series, expr string, end time.Duration) promql.Matrix {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: patience, Parser: queryParser()})
	data := &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			found := &selected{}
			for _, s := range all {
				if matches(s.labels, matchers) {
					found.all = append(found.all, s)
				}
			}
			return found
		},
	}}
	query, err := engine.NewRangeQuery(context.Background(), data, nil, expr, time.UnixMilli(0), time.UnixMilli(0).Add(end), step)
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	result := query.Exec(t.Context())
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatalf("evaluating %s: %v", expr, err)
	}
	return matrix
}

func matches(set labels.Labels, matchers []*labels.Matcher) bool {
	for _, matcher := range matchers {
		if !matcher.Matches(set.Get(matcher.Name)) {
			return false
		}
	}
	return true
}

// firing are the label sets for which an alert fires at the end: its expression has yielded
// something for them at every step of the time that it must hold.
func firing(t *testing.T, all []series, expr string, hold, end time.Duration) []string {
	t.Helper()
	var found []string
	for _, s := range evaluate(t, all, expr, end) {
		held := map[int64]bool{}
		for _, point := range s.Floats {
			held[point.T] = true
		}
		fires := true
		for at := end - hold; at <= end; at += step {
			fires = fires && held[at.Milliseconds()]
		}
		if fires {
			found = append(found, fmt.Sprint(s.Metric))
		}
	}
	return found
}
