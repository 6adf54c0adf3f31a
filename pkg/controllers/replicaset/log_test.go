package replicaset

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// TestTheLogReadsAsAStory checks what is said at the default verbosity: one line for each
// thing done, and none for nothing.
func TestTheLogReadsAsAStory(t *testing.T) {
	l := newLoop(t, newReplicaSet(3, 1), newTestPod("a"), newTestPod("b", orphaned))
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(2), ktesting.BufferLogs(true)))
	buffer := logger.GetSink().(ktesting.Underlier).GetBuffer()
	ctx := klog.NewContext(t.Context(), logger)
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"an orphan is found", func() {}, []string{"Adopted a pod: pod=default/b reason=nobody controlled it and the selector matches it"}},
		{"one more is missing", func() {}, []string{"Created pods: count=1 reason=2 of 3 pods are there"}},
		{"all are there", func() {}, nil},
		{"still", func() {}, nil},
		{"none is wanted", func() { l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 0 }) },
			[]string{"Deleted pods: count=3 reason=3 pods are there, 0 are wanted"}},
		{"none is there", func() {}, nil},
		{"two are wanted and refused", func() {
			l.trouble = l.quotaOf(0)
			l.editReplicaSet("web", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 2 })
		}, nil}, // the worker logs the error
	}
	told := 0
	for _, step := range steps {
		step.do()
		l.catchUp()
		l.waitOut()
		if _, err := l.sync(ctx, web); err != nil && l.trouble == nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		var got []string
		for _, entry := range buffer.Data()[told:] {
			line := entry.Message + ":"
			for i := 0; i+1 < len(entry.ParameterKVList); i += 2 {
				line += fmt.Sprintf(" %v=%v", entry.ParameterKVList[i], entry.ParameterKVList[i+1])
			}
			got = append(got, line)
		}
		told += len(got)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: log (-want +got):\n%s", step.name, diff)
		}
	}
}
