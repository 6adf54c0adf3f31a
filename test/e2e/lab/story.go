package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Sighting is one state of an object, as a watch delivered it.
type Sighting[T any] struct {
	At     time.Time
	Change watch.EventType
	Object T
}

// Track is what was seen of one kind of object, in the order in which the API server
// made the changes.
type Track[T metav1.Object] struct {
	Seen []Sighting[T]
	Now  map[string]T // those that exist, by name
}

// Add adds what was seen.
func (t *Track[T]) Add(s Sighting[T]) {
	t.Seen = append(t.Seen, s)
	if t.Now == nil {
		t.Now = map[string]T{}
	}
	if s.Change == watch.Deleted {
		delete(t.Now, s.Object.GetName())
	} else {
		t.Now[s.Object.GetName()] = s.Object
	}
}

// copy is a track that stays as it is. The objects are shared: nobody writes them.
func (t *Track[T]) copy() Track[T] {
	return Track[T]{Seen: slices.Clip(t.Seen), Now: maps.Clone(t.Now)}
}

// Present are the objects that exist, by name.
func (t *Track[T]) Present() []T {
	objects := make([]T, 0, len(t.Now))
	for _, object := range t.Now {
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects
}

// Born counts the objects that were ever seen.
func (t *Track[T]) Born() int {
	uids := map[string]bool{}
	for _, s := range t.Seen {
		uids[string(s.Object.GetUID())] = true
	}
	return len(uids)
}

// Story is what was seen in one namespace. Changes of different kinds may be
// seen in another order than they were made in.
type Story struct {
	Deployments Track[*appsv1.Deployment]
	ReplicaSets Track[*appsv1.ReplicaSet]
	Pods        Track[*corev1.Pod]
	Events      Track[*corev1.Event]
}

func (st *Story) copy() *Story {
	return &Story{
		Deployments: st.Deployments.copy(),
		ReplicaSets: st.ReplicaSets.copy(),
		Pods:        st.Pods.copy(),
		Events:      st.Events.copy(),
	}
}

// Newest is the Deployment's ReplicaSet with the highest revision; nil without one.
func (st *Story) Newest(deployment string) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	for _, rs := range st.ReplicaSets.Present() {
		if owner := metav1.GetControllerOf(rs); owner == nil || owner.Name != deployment {
			continue
		}
		if newest == nil || RevisionOf(rs) > RevisionOf(newest) {
			newest = rs
		}
	}
	return newest
}

// WithImage is the ReplicaSet whose template has the image; nil without one.
func (st *Story) WithImage(image string) *appsv1.ReplicaSet {
	for _, rs := range st.ReplicaSets.Present() {
		if rs.Spec.Template.Spec.Containers[0].Image == image {
			return rs
		}
	}
	return nil
}

// PodsOf are the Pods that a ReplicaSet controls, by name.
func (st *Story) PodsOf(rs *appsv1.ReplicaSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range st.Pods.Present() {
		if rs != nil && metav1.IsControlledBy(pod, rs) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// readyPodsOf counts the ready Pods of a Deployment that are not being deleted.
func (st *Story) readyPodsOf(d *appsv1.Deployment) int {
	count := 0
	for _, rs := range st.ReplicaSets.Now {
		if metav1.IsControlledBy(rs, d) {
			count += st.readyPodsOfReplicaSet(rs)
		}
	}
	return count
}

func (st *Story) readyPodsOfReplicaSet(rs *appsv1.ReplicaSet) int {
	count := 0
	for _, pod := range st.PodsOf(rs) {
		if _, ready := ReadySince(pod); ready && pod.DeletionTimestamp == nil {
			count++
		}
	}
	return count
}

// EventsAbout are the events about an object, in the form "Normal Reason: message".
func (st *Story) EventsAbout(kind, name string) []string {
	var lines []string
	for _, event := range st.Events.Present() {
		if event.InvolvedObject.Kind == kind && event.InvolvedObject.Name == name {
			lines = append(lines, EventLine(event))
		}
	}
	slices.Sort(lines)
	return lines
}

// hasEvent says whether there is such an event about an object of the kind; one that
// was repeated counts as well.
func (st *Story) hasEvent(kind, line string) bool {
	return slices.ContainsFunc(st.Events.Present(), func(event *corev1.Event) bool {
		return event.InvolvedObject.Kind == kind && EventLine(event) == line
	})
}

// EventLine is an event in a line.
func EventLine(event *corev1.Event) string {
	return fmt.Sprintf("%s %s %s: %s", event.Source.Component, event.Type, event.Reason, event.Message)
}

// SumOfSizes is the sum of spec.replicas over all ReplicaSets.
func (st *Story) SumOfSizes() int32 {
	var sum int32
	for _, rs := range st.ReplicaSets.Present() {
		sum += *rs.Spec.Replicas
	}
	return sum
}

// Available counts the Pods that are not being deleted and have been ready for a time.
func (st *Story) Available(minReady time.Duration, at time.Time) int32 {
	var count int32
	for _, pod := range st.Pods.Present() {
		if since, ready := ReadySince(pod); ready && pod.DeletionTimestamp == nil && !since.Add(minReady).After(at) {
			count++
		}
	}
	return count
}

// ReadySince says since when a Pod is ready, in whole seconds. One that is not there is not.
func ReadySince(pod *corev1.Pod) (time.Time, bool) {
	if pod == nil {
		return time.Time{}, false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.LastTransitionTime.Time, condition.Status == corev1.ConditionTrue
		}
	}
	return time.Time{}, false
}

// AvailableAt counts the Pods that have been ready for a time at a moment.
func (st *Story) AvailableAt(minReady time.Duration, at time.Time) int32 {
	var count int32
	for _, pod := range st.Pods.Present() {
		if since, ready := ReadySince(pod); ready && !since.Add(minReady).After(at) {
			count++
		}
	}
	return count
}
