package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/test/e2e/lab"
)

// TestASelectorThatMatchesStrangersTakesTheOnesThatAreNobodys: a selector may be so broad
// that it is met by Pods of other applications. Those that have an owner keep it.
// kubernetes#23218, PR kubernetes#23467.
func TestASelectorThatMatchesStrangersTakesTheOnesThatAreNobodys(t *testing.T) {
	t.Parallel()
	const strangers = 5
	s := newSpace(t)
	s.Create(lab.NewDeployment("web", 2))
	owned := s.Complete("web").Pods.Now
	for i := range strangers {
		name := fmt.Sprintf("stranger-%d", i)
		s.CreatePod(bare(name, map[string]string{"app": name}))
	}
	s.Until("the strangers", func(st *lab.Story) string { return lab.WrongPods(st, 2+strangers) })

	broad := lab.NewReplicaSet("broad", 1)
	broad.Spec.Template.Labels = map[string]string{"x": "y"}
	broad.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "nolabel", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
	broad = s.CreateReplicaSet(broad)
	st := s.Until("all strangers but one to go", func(st *lab.Story) string { return lab.WrongPods(st, 2+1) })
	if got := len(st.PodsOf(st.ReplicaSets.Now["broad"])); got != 1 {
		t.Errorf("the ReplicaSet has %d Pods, want 1", got)
	}
	for name, pod := range owned {
		if now := st.Pods.Now[name]; now == nil || now.DeletionTimestamp != nil || metav1.IsControlledBy(now, broad) || now.UID != pod.UID {
			t.Errorf("Pod %s, which has another owner, is %v", name, now)
		}
	}
	s.WantPodCreates(2)
}
