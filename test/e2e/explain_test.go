package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplainedDifferences(t *testing.T) {
	t.Parallel()
	golden := facts{"Deployment web": {"spec.replicas": "3", "status.replicas": "2"}}
	tests := map[string]struct {
		difference difference
		want       facts // nil: refused
	}{
		"another value":                 {difference{"Deployment web", "status.replicas", "2", "3", "why"}, facts{"Deployment web": {"spec.replicas": "3", "status.replicas": "3"}}},
		"a fact that only ours has":     {difference{"Pod a", "x", "", "1", "why"}, facts{"Deployment web": golden["Deployment web"], "Pod a": {"x": "1"}}},
		"a fact that ours has not":      {difference{"Deployment web", "status.replicas", "2", "", "why"}, facts{"Deployment web": {"spec.replicas": "3"}}},
		"not what the built-in does":    {difference{"Deployment web", "status.replicas", "7", "3", "why"}, nil},
		"a fact that there is not":      {difference{"Deployment web", "status.x", "7", "3", "why"}, nil},
		"no difference":                 {difference{"Deployment web", "status.replicas", "2", "2", "why"}, nil},
		"a difference without a reason": {difference{"Deployment web", "status.replicas", "2", "3", ""}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := explain(golden, []difference{test.difference})
			if (err != nil) != (test.want == nil) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}
