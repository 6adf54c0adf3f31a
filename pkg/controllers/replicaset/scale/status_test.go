package scale

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func minReady(seconds int32) func(*Snapshot) {
	return func(s *Snapshot) { s.ReplicaSet.Spec.MinReadySeconds = seconds }
}

func TestStatusCounts(t *testing.T) {
	type counts struct {
		Replicas, FullyLabeled, Ready, Available, Terminating int32
		LookAgain                                             time.Duration
	}
	labels := func(labels map[string]string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Labels = labels }
	}
	tests := map[string]struct {
		snapshot Snapshot
		want     counts
	}{
		"no pods": {newSnapshot(3, nil), counts{}},
		"a pod that is not ready": {
			newSnapshot(1, []*corev1.Pod{newPod("a", notReady)}),
			counts{Replicas: 1, FullyLabeled: 1}},
		"a pod without a Ready condition": {
			newSnapshot(1, []*corev1.Pod{newPod("a", func(pod *corev1.Pod) { pod.Status.Conditions = nil })}),
			counts{Replicas: 1, FullyLabeled: 1}},
		"without minReadySeconds a ready pod is available at once, whatever its clock says": {
			newSnapshot(3, []*corev1.Pod{newPod("a", ready(0)), newPod("b", ready(-time.Hour)), newPod("c", readySinceNobodyKnows)}),
			counts{Replicas: 3, FullyLabeled: 3, Ready: 3, Available: 3}},
		"a pod that lacks one of the template's labels is not fully labeled": {
			newSnapshot(3, []*corev1.Pod{
				newPod("a", labels(map[string]string{"app": "web"})),
				newPod("b", labels(map[string]string{"app": "web", "tier": "back"})),
				newPod("c", labels(map[string]string{"app": "web", "tier": "front", "more": "is fine"})),
			}),
			counts{Replicas: 3, FullyLabeled: 1, Ready: 3, Available: 3}},
		"terminating pods are counted apart": {
			newSnapshot(1, newPods(1), func(s *Snapshot) { s.Terminating = newPods(2) }),
			counts{Replicas: 1, FullyLabeled: 1, Ready: 1, Available: 1, Terminating: 2}},
		"each pod is available minReadySeconds after its own transition, and the first of them is waited for": {
			newSnapshot(4, []*corev1.Pod{
				newPod("a", ready(11*time.Second)),
				newPod("b", ready(3*time.Second)),
				newPod("c", ready(7*time.Second)),
				newPod("d", notReady),
			}, minReady(10)),
			counts{Replicas: 4, FullyLabeled: 4, Ready: 3, Available: 1, LookAgain: 2500 * time.Millisecond}},
		"available from the very moment on": {
			newSnapshot(1, []*corev1.Pod{newPod("a", ready(10*time.Second))}, minReady(10), func(s *Snapshot) { s.Now = now.Truncate(time.Second) }),
			counts{Replicas: 1, FullyLabeled: 1, Ready: 1, Available: 1}},
		"a nanosecond before that moment it is not, and the wait is not zero": {
			newSnapshot(1, []*corev1.Pod{newPod("a", ready(10*time.Second))}, minReady(10),
				func(s *Snapshot) { s.Now = now.Truncate(time.Second).Add(-1) }),
			counts{Replicas: 1, FullyLabeled: 1, Ready: 1, LookAgain: 1}},
		"a node whose clock is a minute ahead delays its own pod by a minute": {
			newSnapshot(2, []*corev1.Pod{newPod("a", ready(-time.Minute)), newPod("b", ready(time.Hour))}, minReady(10)),
			counts{Replicas: 2, FullyLabeled: 2, Ready: 2, Available: 1, LookAgain: 69500 * time.Millisecond}},
		"with our own clock an hour behind all pods mature an hour later, and one look suffices": {
			newSnapshot(2, []*corev1.Pod{newPod("a", ready(-time.Hour)), newPod("b", ready(-time.Hour-time.Second))}, minReady(10)),
			counts{Replicas: 2, FullyLabeled: 2, Ready: 2, LookAgain: time.Hour + 9500*time.Millisecond}},
		"with our own clock an hour ahead they are available at once": {
			newSnapshot(1, []*corev1.Pod{newPod("a", ready(time.Hour))}, minReady(10)),
			counts{Replicas: 1, FullyLabeled: 1, Ready: 1, Available: 1}},
		"a ready pod of which nobody knows since when is not available, and no time is waited": {
			newSnapshot(1, []*corev1.Pod{newPod("a", readySinceNobodyKnows)}, minReady(10)),
			counts{Replicas: 1, FullyLabeled: 1, Ready: 1}},
		"pods are counted also while own writes are unseen": {
			newSnapshot(5, newPods(2), unsettled),
			counts{Replicas: 2, FullyLabeled: 2, Ready: 2, Available: 2}},
		"counts of the old status are not carried over": {
			newSnapshot(5, nil, func(s *Snapshot) {
				s.ReplicaSet.Status = appsv1.ReplicaSetStatus{Replicas: 9, FullyLabeledReplicas: 9, ReadyReplicas: 9, AvailableReplicas: 9}
			}),
			counts{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, lookAgain := Status(test.snapshot, Plan{}, Outcome{})
			got := counts{status.Replicas, status.FullyLabeledReplicas, status.ReadyReplicas, status.AvailableReplicas,
				*status.TerminatingReplicas, lookAgain}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if status.ObservedGeneration != 4 {
				t.Errorf("observedGeneration = %d, want that of the ReplicaSet, 4", status.ObservedGeneration)
			}
		})
	}
}

func TestLooksAgainWhenTheFirstWaitIsOver(t *testing.T) {
	maturing := newSnapshot(2, []*corev1.Pod{newPod("a", ready(3*time.Second))}, minReady(10))
	for name, test := range map[string]struct {
		snapshot  Snapshot
		wait      time.Duration
		lookAgain time.Duration
	}{
		"nothing is waited for":                     {newSnapshot(1, newPods(1)), 0, 0},
		"a create waits":                            {newSnapshot(1, nil), time.Minute, time.Minute},
		"a pod will be available before the create": {maturing, time.Minute, 6500 * time.Millisecond},
		"a pod will be available after the create":  {maturing, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if _, lookAgain := Status(test.snapshot, Plan{Wait: test.wait}, Outcome{}); lookAgain != test.lookAgain {
				t.Errorf("looks again after %s, want %s", lookAgain, test.lookAgain)
			}
		})
	}
}

func TestReplicaFailure(t *testing.T) {
	other := appsv1.ReplicaSetCondition{Type: "Other", Status: corev1.ConditionTrue}
	failure := func(reason, message string, since metav1.Time) appsv1.ReplicaSetCondition {
		return appsv1.ReplicaSetCondition{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
			Reason: reason, Message: message, LastTransitionTime: since,
		}
	}
	type list = []appsv1.ReplicaSetCondition
	present := metav1.NewTime(now)
	before := failure("FailedCreate", "quota", ago(time.Hour))
	create, remove := Plan{Create: 3}, Plan{Delete: newPods(1)}
	quota, limit := errors.New("quota"), errors.New("limit")
	settled := func(*Snapshot) {}
	tests := map[string]struct {
		old     list
		settled func(*Snapshot)
		plan    Plan
		outcome Outcome
		want    list
	}{
		"a failed create is reported":                             {nil, settled, create, Outcome{Err: quota}, list{failure("FailedCreate", "quota", present)}},
		"a failed delete is reported":                             {nil, settled, remove, Outcome{Err: quota}, list{failure("FailedDelete", "unable to delete pods: quota", present)}},
		"a failed repetition of an unanswered delete is reported": {nil, unsettled, Plan{}, Outcome{Err: quota}, list{failure("FailedDelete", "unable to delete pods: quota", present)}},
		"the same failure again changes nothing":                  {list{before}, settled, create, Outcome{Err: quota}, list{before}},
		"the message follows the latest cause":                    {list{before}, settled, create, Outcome{Err: limit}, list{failure("FailedCreate", "limit", ago(time.Hour))}},
		"the reason follows the latest cause":                     {list{before}, settled, remove, Outcome{Err: quota}, list{failure("FailedDelete", "unable to delete pods: quota", ago(time.Hour))}},
		"some creates worked and one did not: still a failure":    {list{before}, settled, create, Outcome{Done: 2, Err: limit}, list{failure("FailedCreate", "limit", ago(time.Hour))}},
		"it goes when a create works":                             {list{before}, settled, create, Outcome{Done: 1}, list{}},
		"it goes when nothing is left to create or delete":        {list{before}, settled, Plan{}, Outcome{}, list{}},
		"it stays while own writes are unseen":                    {list{before}, unsettled, Plan{}, Outcome{}, list{before}},
		"it stays while a create waits":                           {list{before}, settled, Plan{Wait: time.Second}, Outcome{}, list{before}},
		"it stays when none of the plan was tried":                {list{before}, settled, create, Outcome{}, list{before}},
		"other conditions stay in place when it comes":            {list{other}, settled, create, Outcome{Err: quota}, list{other, failure("FailedCreate", "quota", present)}},
		"other conditions stay in place when it changes":          {list{before, other}, settled, create, Outcome{Err: limit}, list{failure("FailedCreate", "limit", ago(time.Hour)), other}},
		"other conditions stay in place when it goes":             {list{before, other}, settled, Plan{}, Outcome{}, list{other}},
		"one that was false becomes true now": {
			list{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionFalse, LastTransitionTime: ago(time.Hour)}},
			settled, create, Outcome{Err: quota}, list{failure("FailedCreate", "quota", present)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			snapshot := newSnapshot(3, nil, test.settled)
			snapshot.ReplicaSet.Status.Conditions = test.old
			untouched := snapshot.ReplicaSet.DeepCopy()
			status, _ := Status(snapshot, test.plan, test.outcome)
			if diff := cmp.Diff(test.want, status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(untouched, snapshot.ReplicaSet); diff != "" {
				t.Errorf("the snapshot was changed (-before +after):\n%s", diff)
			}
		})
	}
}
