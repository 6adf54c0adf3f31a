package rollout

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// noNode is a Pod for which the scheduler has found no node.
func noNode(why string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: why}}}}
}

// waits is a Pod with a container that waits.
func waits(reason string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{
		{Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}}}
}

func TestTheDeadlineSaysWhy(t *testing.T) {
	const sentence = `ReplicaSet "web-v2" has timed out progressing.`
	const full = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims."
	const noRoom = sentence + " A new Pod cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu."
	running := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	failed := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: waits("ErrImagePull").Status.ContainerStatuses}}
	evicted := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "no memory."}}
	refused := func(rs *appsv1.ReplicaSet) {
		rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: isTrue, Reason: "FailedCreate", Message: "exceeded quota: few."}}
	}
	tests := map[string]struct {
		edit   func(*appsv1.Deployment)
		set    func(*appsv1.ReplicaSet)
		pods   []*corev1.Pod
		before string // what was said, if the deadline has passed before
		want   string
	}{
		"nothing is known":                        {want: sentence},
		"no node, and an old one may go first":    {pods: []*corev1.Pod{noNode(full)}, want: noRoom},
		"no node, and no old one may go first":    {edit: bounds(1, 0), pods: []*corev1.Pod{noNode(full)}, want: noRoom + " maxUnavailable comes to 0 of 10 Pods, so no old one may go first to make room: raise it."},
		"no node, and the strategy is Recreate":   {edit: recreate, pods: []*corev1.Pod{noNode(full)}, want: noRoom},
		"an image that is not there":              {pods: []*corev1.Pod{waits("ImagePullBackOff")}, want: sentence + ` Container "c" of a new Pod waits: ImagePullBackOff, image v2.`},
		"a bad configuration":                     {pods: []*corev1.Pod{waits("CreateContainerConfigError")}, want: sentence + ` Container "c" of a new Pod waits: CreateContainerConfigError.`},
		"a container that crashes":                {pods: []*corev1.Pod{waits("CrashLoopBackOff")}, want: sentence + ` Container "c" of a new Pod fails and is restarted (CrashLoopBackOff).`},
		"a probe that fails":                      {pods: []*corev1.Pod{running}, want: sentence + " A new Pod runs and is not ready: see its readiness probe."},
		"of several the one that comes first":     {pods: []*corev1.Pod{running, waits("CrashLoopBackOff"), noNode(full), waits("ErrImagePull")}, want: noRoom},
		"of equals always the same":               {pods: []*corev1.Pod{waits("InvalidImageName"), waits("CreateContainerError")}, want: sentence + ` Container "c" of a new Pod waits: CreateContainerError.`},
		"Pods that have failed":                   {pods: []*corev1.Pod{failed}, want: sentence + " New Pods fail."},
		"and of what, of several always the same": {pods: []*corev1.Pod{evicted, failed}, want: sentence + " New Pods fail (Evicted: no memory)."},
		"but first what keeps those that run":     {pods: []*corev1.Pod{evicted, running}, want: sentence + " A new Pod runs and is not ready: see its readiness probe."},
		"Pods that have succeeded do not count":   {pods: []*corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}}, want: sentence},
		"Pods are refused":                        {set: refused, pods: []*corev1.Pod{running}, want: sentence + " Its Pods are refused (FailedCreate): exceeded quota: few."},
		"the cause is not seen any more":          {before: sentence + " A new Pod runs and is not ready: see its readiness probe.", want: sentence + " A new Pod runs and is not ready: see its readiness probe."},
		"it is seen only after the deadline":      {before: sentence, pods: []*corev1.Pod{running}, want: sentence + " A new Pod runs and is not ready: see its readiness probe."},
		"another cause is seen":                   {before: sentence + " A new Pod runs and is not ready: see its readiness probe.", pods: []*corev1.Pod{noNode("no room")}, want: sentence + " A new Pod cannot be scheduled: no room."},
		"a scheduler that says no more than that": {pods: []*corev1.Pod{noNode("")}, want: sentence + " A new Pod cannot be scheduled: Unschedulable."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reason := ReasonUpdated
			if test.before != "" {
				reason = ReasonDeadlineExceeded
			}
			edits := []func(*appsv1.Deployment){limited(59), reported(13, 5, 9, progressing(isFalse, reason, test.before, hour, minute))}
			if test.edit != nil {
				edits = append(edits, test.edit)
			}
			fresh := replicaSet("v2", 5, 1, sizedFor(10, 13))
			if test.set != nil {
				test.set(fresh)
			}
			s := snapshot(deployment(10, edits...), replicaSet("v1", 8, 8, sizedFor(10, 13)), fresh)
			s.Pods = map[types.UID][]*corev1.Pod{fresh.UID: test.pods}
			if !IsOverdue(s.Deployment, now) {
				t.Error("the shell would not read the Pods")
			}
			report := Status(s, Plan{}, Outcome{})
			if got := find(report.Status.Conditions, appsv1.DeploymentProgressing); got.Message != test.want || got.Reason != ReasonDeadlineExceeded {
				t.Errorf("%s: %q, want %q", got.Reason, got.Message, test.want)
			}
			if told := report.TimedOut; test.before == "" && told != test.want || test.before != "" && told != "" {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestWhetherItIsOverdue(t *testing.T) {
	tests := map[string]struct {
		d    *appsv1.Deployment
		want bool
	}{
		"no progress for just as long as may be": {deployment(10, limited(60), reported(13, 5, 9, progressing(isTrue, ReasonUpdated, "", hour, minute))), false},
		"and a moment longer":                    {deployment(10, limited(59), reported(13, 5, 9, progressing(isTrue, ReasonUpdated, "", hour, minute))), true},
		"that was reported":                      {deployment(10, reported(13, 5, 9, progressing(isFalse, ReasonDeadlineExceeded, "", time.Second, time.Second))), true},
		"complete for long":                      {deployment(10, limited(5), reported(10, 10, 10, progressing(isTrue, ReasonComplete, "", hour, hour))), false},
		"paused":                                 {deployment(10, paused, limited(5), reported(13, 5, 9, progressing(isTrue, ReasonUpdated, "", hour, hour))), false},
		"no deadline":                            {deployment(10, limited(unlimited), reported(13, 5, 9, progressing(isTrue, ReasonUpdated, "", hour, hour))), false},
		"nothing reported yet":                   {deployment(10, limited(5)), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsOverdue(test.d, now); got != test.want {
				t.Errorf("overdue = %v, want %v", got, test.want)
			}
		})
	}
}
