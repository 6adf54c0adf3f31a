package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// newPod returns a Pod of the given phase with the edits made to it.
func newPod(phase corev1.PodPhase, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func deleted(pod *corev1.Pod) {
	pod.DeletionTimestamp = &metav1.Time{Time: now}
}

// condition adds one before and after which others stand.
func condition(status corev1.ConditionStatus, since time.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))},
			{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(since)},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		}
	}
}

func readySince(since time.Time) func(*corev1.Pod) { return condition(corev1.ConditionTrue, since) }

func TestStateOfAPod(t *testing.T) {
	type state struct{ terminal, active, terminating bool }
	tests := map[string]struct {
		pod  *corev1.Pod
		want state
	}{
		"a pod that has not started is active":                    {newPod(""), state{active: true}},
		"a pending pod is active":                                 {newPod(corev1.PodPending), state{active: true}},
		"a running pod is active":                                 {newPod(corev1.PodRunning), state{active: true}},
		"a pod nobody has heard of lately is active":              {newPod(corev1.PodUnknown), state{active: true}},
		"a pod that succeeded is terminal":                        {newPod(corev1.PodSucceeded), state{terminal: true}},
		"a pod that failed is terminal":                           {newPod(corev1.PodFailed), state{terminal: true}},
		"a running pod that is being deleted is terminating":      {newPod(corev1.PodRunning, deleted), state{terminating: true}},
		"a pending pod that is being deleted is terminating":      {newPod(corev1.PodPending, deleted), state{terminating: true}},
		"a failed pod that is being deleted is no longer running": {newPod(corev1.PodFailed, deleted), state{terminal: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := state{IsTerminal(test.pod), IsActive(test.pod), IsTerminating(test.pod)}
			if got != test.want {
				t.Errorf("state = %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestWhetherAPodHasStopped(t *testing.T) {
	running, failed := newPod(corev1.PodRunning), newPod(corev1.PodFailed)
	tests := map[string]struct {
		old, current *corev1.Pod
		want         bool
	}{
		"it is new":                  {nil, failed, false},
		"it is gone":                 {running, nil, true},
		"it has run to its end":      {running, failed, true},
		"that had been so before":    {failed, failed, false},
		"it goes on":                 {running, running, false},
		"its deletion was asked for": {running, newPod(corev1.PodRunning, deleted), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Stopped(test.old, test.current); got != test.want {
				t.Errorf("stopped = %v, want %v", got, test.want)
			}
		})
	}
}

func TestReady(t *testing.T) {
	tests := map[string]struct {
		pod   *corev1.Pod
		ready bool
		since time.Time
	}{
		"without a Ready condition":             {newPod(corev1.PodRunning), false, time.Time{}},
		"with one that is true":                 {newPod(corev1.PodRunning, readySince(now)), true, now},
		"with one that is false":                {newPod(corev1.PodRunning, condition(corev1.ConditionFalse, now)), false, time.Time{}},
		"with one that is unknown":              {newPod(corev1.PodRunning, condition(corev1.ConditionUnknown, now)), false, time.Time{}},
		"with one that does not say as of when": {newPod(corev1.PodRunning, readySince(time.Time{})), true, time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsReady(test.pod); got != test.ready {
				t.Errorf("IsReady = %v, want %v", got, test.ready)
			}
			if got := ReadySince(test.pod); !got.Equal(test.since) {
				t.Errorf("ReadySince = %v, want %v", got, test.since)
			}
		})
	}
}

func TestAvailable(t *testing.T) {
	tests := map[string]struct {
		pod             *corev1.Pod
		minReadySeconds int32
		available       bool
		at              time.Time
		known           bool
	}{
		"not ready": {newPod(corev1.PodRunning), 0, false, time.Time{}, false},
		"ready, and no time is asked for": {
			newPod(corev1.PodRunning, readySince(now)), 0, true, now, true},
		"ready in the future, and no time is asked for": {
			newPod(corev1.PodRunning, readySince(now.Add(time.Hour))), 0, true, now.Add(time.Hour), true},
		"ready nobody knows since when, and no time is asked for": {
			newPod(corev1.PodRunning, readySince(time.Time{})), 0, true, time.Time{}, true},
		"ready nobody knows since when, and time is asked for": {
			newPod(corev1.PodRunning, readySince(time.Time{})), 10, false, time.Time{}, false},
		"ready for too short a time": {
			newPod(corev1.PodRunning, readySince(now.Add(-9*time.Second))), 10, false, now.Add(time.Second), true},
		"ready for just long enough": {
			newPod(corev1.PodRunning, readySince(now.Add(-10*time.Second))), 10, true, now, true},
		"ready for longer": {
			newPod(corev1.PodRunning, readySince(now.Add(-time.Hour))), 10, true, now.Add(-time.Hour + 10*time.Second), true},
		"ready in the future, and time is asked for": {
			newPod(corev1.PodRunning, readySince(now.Add(time.Minute))), 10, false, now.Add(70 * time.Second), true},
		"the longest time there is": {
			newPod(corev1.PodRunning, readySince(now)), 2147483647, false, now.Add(2147483647 * time.Second), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsAvailable(test.pod, test.minReadySeconds, now); got != test.available {
				t.Errorf("IsAvailable = %v, want %v", got, test.available)
			}
			at, known := AvailableAt(test.pod, test.minReadySeconds)
			if !at.Equal(test.at) || known != test.known {
				t.Errorf("AvailableAt = %v, %v, want %v, %v", at, known, test.at, test.known)
			}
		})
	}
}

func TestDeletionCost(t *testing.T) {
	tests := map[string]struct {
		annotation string
		want       int32
	}{
		"a number":                         {"17", 17},
		"a negative number":                {"-17", -17},
		"zero":                             {"0", 0},
		"the largest":                      {"2147483647", 2147483647},
		"the smallest":                     {"-2147483648", -2147483648},
		"too large":                        {"2147483648", 0},
		"too small":                        {"-2147483649", 0},
		"a word":                           {"cheap", 0},
		"a number with something after it": {"17 pods", 0},
		"a fraction":                       {"1.5", 0},
		"a plus sign":                      {"+17", 0},
		"a leading zero":                   {"017", 0},
		"an empty text":                    {"", 0},
		"a sign alone":                     {"-", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newPod(corev1.PodRunning, func(pod *corev1.Pod) {
				pod.Annotations = map[string]string{"controller.kubernetes.io/pod-deletion-cost": test.annotation}
			})
			if got := DeletionCost(pod); got != test.want {
				t.Errorf("DeletionCost = %d, want %d", got, test.want)
			}
		})
	}
	if got := DeletionCost(newPod(corev1.PodRunning)); got != 0 {
		t.Errorf("DeletionCost without the annotation = %d, want 0", got)
	}
}

// restarted is a Pod with two containers, an init container, two sidecars, and an init
// container with a restart policy that makes it no sidecar.
func restarted(pod *corev1.Pod) {
	always, onFailure := corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyOnFailure
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "setup"},
		{Name: "proxy", RestartPolicy: &always},
		{Name: "logger", RestartPolicy: &always},
		{Name: "migrate", RestartPolicy: &onFailure},
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "setup", RestartCount: 40},
		{Name: "proxy", RestartCount: 2},
		{Name: "logger", RestartCount: 5},
		{Name: "migrate", RestartCount: 50},
		{Name: "unheard of", RestartCount: 60},
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 3}, {Name: "other", RestartCount: 1}, {Name: "calm"}}
}

func TestRestarts(t *testing.T) {
	if containers, sidecars := Restarts(newPod(corev1.PodRunning, restarted)); containers != 3 || sidecars != 5 {
		t.Errorf("Restarts = %d, %d, want 3 and 5", containers, sidecars)
	}
	if containers, sidecars := Restarts(newPod(corev1.PodRunning)); containers != 0 || sidecars != 0 {
		t.Errorf("Restarts of a pod without statuses = %d, %d, want none", containers, sidecars)
	}
}
