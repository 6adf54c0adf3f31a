package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told is a line about a sighting.
type told struct {
	at   time.Time
	text string
}

// tell is a story in lines, one for each change, by time.
func tell(st *Story) string {
	lines := slices.Concat(
		tellTrack("Deployment", &st.Deployments, TellDeployment),
		tellTrack("ReplicaSet", &st.ReplicaSets, TellReplicaSet),
		tellTrack("Pod", &st.Pods, tellPod),
		tellTrack("Event", &st.Events, EventLine),
	)
	slices.SortStableFunc(lines, func(a, b told) int { return a.at.Compare(b.at) })
	var text strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&text, "%s %s\n", line.at.Format("15:04:05.000"), line.text)
	}
	return text.String()
}

func tellTrack[T metav1.Object](kind string, t *Track[T], describe func(T) string) []told {
	lines := make([]told, 0, len(t.Seen))
	for _, s := range t.Seen {
		text := fmt.Sprintf("%-8s %s %s %s", s.Change, kind, s.Object.GetName(), describe(s.Object))
		lines = append(lines, told{at: s.At, text: text})
	}
	return lines
}

// TellDeployment is the state of a Deployment in a line.
func TellDeployment(d *appsv1.Deployment) string {
	status := d.Status
	text := fmt.Sprintf("generation %d/%d, wanted %d: %d replicas, %d updated, %d ready, %d available",
		status.ObservedGeneration, d.Generation, *d.Spec.Replicas, status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas)
	for _, condition := range status.Conditions {
		text += fmt.Sprintf(", %s=%s %s", condition.Type, condition.Status, condition.Reason)
	}
	return text
}

// TellReplicaSet is the state of a ReplicaSet in a line.
func TellReplicaSet(rs *appsv1.ReplicaSet) string {
	return fmt.Sprintf("revision %d, wanted %d: %d replicas, %d ready, %d available",
		RevisionOf(rs), *rs.Spec.Replicas, rs.Status.Replicas, rs.Status.ReadyReplicas, rs.Status.AvailableReplicas)
}

func tellPod(pod *corev1.Pod) string {
	text := cmp.Or(string(pod.Status.Phase), "no phase")
	if _, ready := ReadySince(pod); ready {
		text += ", ready"
	}
	if pod.DeletionTimestamp != nil {
		text += ", being deleted"
	}
	if owner := metav1.GetControllerOf(pod); owner == nil {
		text += ", nobody's"
	}
	return text
}
