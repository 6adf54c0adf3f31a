package takeover

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

const builtin = "kube-controller-manager"

// fixture is a check for the program "us". Its API server's clock shows the year 2000, as
// does that of a synctest bubble, but it may as well be wrong.
type fixture struct {
	*Check
	t        *testing.T
	registry *prometheus.Registry
	log      ktesting.Buffer
	ended    chan error
}

func newFixture(t *testing.T, edits ...func(*Config)) *fixture {
	t.Helper()
	registry := prometheus.NewRegistry()
	config := Config{Mode: Warn, Manager: "us", Deployments: true, ReplicaSets: true, Metrics: registry}
	for _, edit := range edits {
		edit(&config)
	}
	check, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{Check: check, t: t, registry: registry, ended: make(chan error, 1)}
}

func in(mode Mode) func(*Config) { return func(c *Config) { c.Mode = mode } }

// begin leads until the end of the test, in a synctest bubble.
func (f *fixture) begin() {
	f.t.Helper()
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
	f.log = logger.GetSink().(ktesting.Underlier).GetBuffer()
	ctx, stop := context.WithCancel(klog.NewContext(f.t.Context(), logger))
	f.t.Cleanup(stop)
	go func() { f.ended <- f.Run(ctx) }()
	synctest.Wait()
}

// counts are the values of the metric, by the label.
func (f *fixture) counts() map[string]float64 {
	f.t.Helper()
	families, err := f.registry.Gather()
	if err != nil {
		f.t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := metric.GetLabel()[0]
			counts[family.GetName()+" "+key.GetName()+"="+key.GetValue()] = metric.GetCounter().GetValue()
		}
	}
	return counts
}

func second(n int) metav1.Time { return metav1.Unix(946684800+int64(n), 0) }

// status is an entry about a write of the status.
func status(manager string, at int) metav1.ManagedFieldsEntry {
	written := second(at)
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status", Time: &written}
}

func meta(name string, entries []metav1.ManagedFieldsEntry) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name), CreationTimestamp: second(0), ManagedFields: entries}
}

func deployment(name string, entries ...metav1.ManagedFieldsEntry) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(name, entries)}
}

func replicaSet(name string, entries ...metav1.ManagedFieldsEntry) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: meta(name, entries)}
}

func TestWhichWritesCount(t *testing.T) {
	scale, spec, timeless := status(builtin, 9), status(builtin, 9), status(builtin, 9)
	scale.Subresource, spec.Subresource, timeless.Time = "scale", "", nil
	tests := map[string]struct {
		before, leading []metav1.Object
		deployments     float64
		replicaSets     float64
	}{
		"the built-in loop writes": {
			leading:     []metav1.Object{deployment("x", status(builtin, 1)), replicaSet("x-1", status(builtin, 1))},
			deployments: 1, replicaSets: 1},
		"a loop of another name does": {leading: []metav1.Object{deployment("x", status("k3s", 1))}, deployments: 1},
		"we do":                       {leading: []metav1.Object{deployment("x", status("us", 1))}},
		"another process of ours did, and we do": {
			before:  []metav1.Object{deployment("x", status("us", 1))},
			leading: []metav1.Object{deployment("x", status("us", 2))}},
		"the built-in loop had written, and we do": {
			before:  []metav1.Object{deployment("x", status(builtin, 5)), deployment("y", status(builtin, 3))},
			leading: []metav1.Object{deployment("x", status(builtin, 5), status("us", 9)), deployment("y", status(builtin, 3), status("us", 9))}},
		"the built-in loop had written after us, and the object is touched": {
			before:  []metav1.Object{deployment("x", status("us", 1), status(builtin, 5))},
			leading: []metav1.Object{deployment("x", status("us", 1), status(builtin, 5))}},
		"something else was the last to be written before": {
			before:  []metav1.Object{deployment("y", spec)},
			leading: []metav1.Object{deployment("x", status(builtin, 8))}},
		"the same write is seen again and again": {
			leading:     []metav1.Object{deployment("x", status(builtin, 1)), deployment("x", status(builtin, 1), status("us", 2)), deployment("x", status(builtin, 1))},
			deployments: 1},
		"one object is written twice": {
			leading: []metav1.Object{deployment("x", status(builtin, 1)), deployment("x", status(builtin, 2))}, deployments: 2},
		"two objects are written in the same second": {
			leading: []metav1.Object{deployment("x", status(builtin, 1)), deployment("y", status(builtin, 1)), deployment("x", status(builtin, 1))}, deployments: 2},
		"two programs write the same object": {
			leading: []metav1.Object{deployment("x", status(builtin, 1), status("k3s", 1))}, deployments: 2},
		"an older write is seen after a newer one": {
			leading: []metav1.Object{deployment("x", status(builtin, 2)), deployment("y", status(builtin, 1)), deployment("x", status(builtin, 2))}, deployments: 1},
		"people write with kubectl": {leading: []metav1.Object{
			deployment("x", status("kubectl", 1), status("kubectl-edit", 1)), replicaSet("x-1", status("kubectl-patch", 1))}},
		"a program whose name begins like kubectl's does": {leading: []metav1.Object{deployment("x", status("kubectlike", 1))}, deployments: 1},
		"an autoscaler and a garbage collector write":     {leading: []metav1.Object{deployment("x", scale, spec)}},
		"an entry has no time":                            {leading: []metav1.Object{deployment("x", timeless)}},
		"an object comes out of a backup":                 {leading: []metav1.Object{deployment("x", status(builtin, -1))}},
		"a Pod's status is written":                       {leading: []metav1.Object{&corev1.Pod{ObjectMeta: meta("x", []metav1.ManagedFieldsEntry{status("kubelet", 1)})}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for _, object := range test.before {
				f.See(object)
			}
			f.lead()
			for _, object := range test.leading {
				f.See(object)
			}
			const metric = "controller_manager_foreign_status_writes_total controller="
			want := map[string]float64{metric + "deployment": test.deployments, metric + "replicaset": test.replicaSets}
			if diff := cmp.Diff(want, f.counts()); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALoopIsToldFromWhatIsNone(t *testing.T) {
	tests := map[string]struct {
		writes int
		pause  time.Duration
		found  bool
	}{
		"a person edits once":                     {1, 0, false},
		"and again, since it was undone":          {2, 0, false},
		"a loop writes as often as it can":        {3, 0, true},
		"somebody edits every minute":             {60, time.Minute, false},
		"a loop has something to do now and then": {60, 20 * time.Second, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.begin()
				for n := range test.writes {
					f.See(deployment("x", status("someone", n+1)))
					<-time.After(test.pause)
				}
				synctest.Wait()
				if found := f.log.String() != ""; found != test.found {
					t.Errorf("taken for a loop: %t, want %t; log: %s", found, test.found, f.log.String())
				}
			})
		})
	}
}

func TestWarningsComeOnceAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.begin()
		for n := range 150 {
			f.See(replicaSet("x", status(builtin, n+1)))
			<-time.After(time.Second)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(f.log.String(), "\n"), "\n")
		if len(lines) != 3 {
			t.Errorf("got %d lines in two and a half minutes, want 3:\n%s", len(lines), f.log.String())
		}
		for _, line := range lines {
			for _, word := range []string{"ERROR Another program runs", `replicaSet="a/x"`, `manager="kube-controller-manager"`,
				"turn off deployment-controller and replicaset-controller in kube-controller-manager",
				"add -deployment-controller,-replicaset-controller to its --controllers"} {
				if !strings.Contains(line, word) {
					t.Errorf("got %q, want %q in it", line, word)
				}
			}
		}
	})
}

// three are as many writes as make a loop.
func (f *fixture) three() {
	for n := range 3 {
		f.See(deployment("x", status(builtin, n+1)))
		f.See(replicaSet("x-1", status(builtin, n+1)))
	}
}

func TestFailEndsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, in(Fail))
		f.begin()
		f.See(deployment("x", status(builtin, 1)))
		f.See(deployment("x", status(builtin, 2)))
		synctest.Wait()
		if len(f.ended) > 0 {
			t.Fatal("two writes have ended the work")
		}
		f.See(deployment("x", status(builtin, 3)))
		err := <-f.ended
		if err == nil || !strings.Contains(err.Error(), "kube-controller-manager writes the status of deployment a/x") ||
			!strings.Contains(err.Error(), "turn off deployment-controller") {
			t.Errorf("ended with %v, want an error that says who it is and what to do", err)
		}
		if f.log.String() != "" {
			t.Errorf("logged %q, want the error alone", f.log.String())
		}
	})
}

func TestOffLooksAtNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, in(Off))
		f.begin()
		f.three()
		synctest.Wait()
		if f.log.String() != "" || len(f.ended) > 0 {
			t.Errorf("logged %q, and ended: %d", f.log.String(), len(f.ended))
		}
		for name, count := range f.counts() {
			if count > 0 {
				t.Errorf("%s is %v, want 0", name, count)
			}
		}
	})
}

func TestALoopThatIsNotOursToRunMayRunElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(c *Config) { c.ReplicaSets = false })
		f.begin()
		for n := range 3 {
			f.See(replicaSet("x-1", status(builtin, n+1)))
		}
		synctest.Wait()
		if f.log.String() != "" {
			t.Errorf("logged %q about ReplicaSets, want nothing", f.log.String())
		}
		f.three()
		synctest.Wait()
		if got := f.log.String(); !strings.Contains(got, "(add -deployment-controller to its --controllers)") {
			t.Errorf("logged %q, want the advice to turn off the one loop", got)
		}
	})
}

func TestAStandbyLooksForNobody(t *testing.T) {
	f := newFixture(t, in(Fail))
	f.three()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := f.Run(ctx); err != nil {
		t.Errorf("got %v from what was before it led", err)
	}
}

func TestTheMetricsCanBeRegisteredOnce(t *testing.T) {
	f := newFixture(t)
	if _, err := New(Config{Deployments: true, Metrics: f.registry}); err == nil {
		t.Error("registering them a second time works, want an error")
	}
}
