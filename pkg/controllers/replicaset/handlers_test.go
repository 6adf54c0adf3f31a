package replicaset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestWhichReplicaSetsAPodWakes(t *testing.T) {
	newer := func(pod *corev1.Pod) { pod.ResourceVersion = "2" }
	pod := func(edits ...func(*corev1.Pod)) *corev1.Pod { return newTestPod("a", edits...) }
	current := func(edits ...func(*corev1.Pod)) *corev1.Pod { return newTestPod("a", append(edits, newer)...) }
	controlledBy := func(kind, name string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			yes := true
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: &yes}}
		}
	}
	ofOther := controlledBy("ReplicaSet", "other")
	ofJob := controlledBy("Job", "job")
	recreated := func(pod *corev1.Pod) { pod.UID = "uid-2" }
	tests := map[string]struct {
		old, current *corev1.Pod
		want         []string
	}{
		"a new pod wakes its controller":                              {nil, pod(), []string{"web"}},
		"a new pod of another kind of controller wakes nobody":        {nil, pod(ofJob), nil},
		"a new pod of an unknown ReplicaSet wakes that key":           {nil, pod(controlledBy("ReplicaSet", "unknown")), []string{"unknown"}},
		"a pod that is gone wakes its controller":                     {pod(), nil, []string{"web"}},
		"an orphan that is gone wakes nobody":                         {pod(orphaned), nil, nil},
		"a new orphan wakes those that may adopt it":                  {nil, pod(orphaned), []string{"twin", "web"}},
		"a new orphan that has ended wakes nobody":                    {nil, pod(orphaned, failed), nil},
		"a new orphan that matches nobody wakes nobody":               {nil, pod(orphaned, relabeled), nil},
		"an orphan whose status changes wakes nobody":                 {pod(orphaned), current(orphaned, unready), nil},
		"an orphan that begins to match wakes those that may adopt":   {pod(orphaned, relabeled), current(orphaned), []string{"twin", "web"}},
		"a pod that loses its controller wakes it and all that match": {pod(ofOther), current(orphaned), []string{"other", "twin", "web"}},
		"a pod that was given away wakes both controllers":            {pod(), current(ofOther), []string{"other", "web"}},
		"a pod that was given to another kind wakes the former":       {pod(), current(ofJob), []string{"web"}},
		"a pod that was adopted wakes its new controller":             {pod(orphaned), current(), []string{"web"}},
		"a pod of another kind whose labels change wakes nobody":      {pod(ofJob), current(ofJob, relabeled), nil},
		"a resync of a pod wakes nobody":                              {pod(), pod(), nil},
		"a pod that becomes unready wakes its controller":             {pod(), current(unready), []string{"web"}},
		"a pod that becomes ready again later wakes its controller": {pod(), current(func(pod *corev1.Pod) {
			pod.Status.Conditions[0].LastTransitionTime.Time = testNow
		}), []string{"web"}},
		"a pod that fails wakes its controller":                        {pod(), current(failed), []string{"web"}},
		"a pod that begins to terminate wakes its controller":          {pod(), current(terminating), []string{"web"}},
		"a terminating pod that ends wakes its controller":             {pod(terminating), current(terminating, failed), []string{"web"}},
		"a pod whose labels change wakes its controller":               {pod(), current(relabeled), []string{"web"}},
		"a pod that is assigned to a node wakes nobody":                {pod(func(pod *corev1.Pod) { pod.Spec.NodeName = "" }), current(), nil},
		"a pod that was deleted and made again wakes both controllers": {pod(), current(recreated, ofOther), []string{"other", "web"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, newReplicaSet(1, 0),
				newReplicaSet(1, 0, func(rs *appsv1.ReplicaSet) { rs.Name, rs.UID = "twin", "uid-twin" }),
				newReplicaSet(1, 0, func(rs *appsv1.ReplicaSet) {
					rs.Name, rs.UID = "other", "uid-other"
					rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"another": "app"}}
					rs.Spec.Template.Labels = rs.Spec.Selector.MatchLabels
				}),
				newReplicaSet(1, 0, func(rs *appsv1.ReplicaSet) {
					rs.Name, rs.UID = "broken", "uid-broken"
					rs.Spec.Selector = &metav1.LabelSelector{}
				}),
				newReplicaSet(1, 0, func(rs *appsv1.ReplicaSet) { rs.Namespace = "elsewhere" }),
			)
			handler := l.podHandler()
			switch {
			case test.old == nil:
				handler.OnAdd(test.current, false)
			case test.current == nil:
				handler.OnDelete(test.old)
			default:
				handler.OnUpdate(test.old, test.current)
			}
			if diff := cmp.Diff(test.want, l.woken()); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsOnlyKnownFromATombstoneWakesToo(t *testing.T) {
	l := newLoop(t, newReplicaSet(1, 0))
	l.podHandler().OnDelete(cache.DeletedFinalStateUnknown{Key: "default/a", Obj: newTestPod("a")})
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by a pod's tombstone (-want +got):\n%s", diff)
	}
	l.replicaSetHandler().OnDelete(cache.DeletedFinalStateUnknown{Key: "default/web", Obj: newReplicaSet(1, 0)})
	if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
		t.Errorf("woken by a ReplicaSet's tombstone (-want +got):\n%s", diff)
	}
	l.podHandler().OnDelete(cache.DeletedFinalStateUnknown{Key: "default/a"})
	l.podHandler().OnDelete("nonsense")
	if woken := l.woken(); len(woken) > 0 {
		t.Errorf("woken %v by nothing", woken)
	}
}

func TestAReplicaSetWakesItselfWhateverChanges(t *testing.T) {
	l := newLoop(t)
	handler := l.replicaSetHandler()
	rs := newReplicaSet(1, 0)
	for what, event := range map[string]func(){
		"its appearance": func() { handler.OnAdd(rs, true) },
		"an update":      func() { handler.OnUpdate(rs, newReplicaSet(2, 0)) },
		"a resync":       func() { handler.OnUpdate(rs, rs) },
		"its deletion":   func() { handler.OnDelete(rs) },
	} {
		event()
		if diff := cmp.Diff([]string{"web"}, l.woken()); diff != "" {
			t.Errorf("woken by %s (-want +got):\n%s", what, diff)
		}
	}
}
