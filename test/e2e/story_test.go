package e2e

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

// sighting is one state of an object, as a watch delivered it.
type sighting[T any] struct {
	at     time.Time
	change watch.EventType
	object T
}

// track is what was seen of one kind of object, in the order in which the API server
// made the changes.
type track[T metav1.Object] struct {
	seen []sighting[T]
	now  map[string]T // those that exist, by name
}

func (t *track[T]) add(s sighting[T]) {
	t.seen = append(t.seen, s)
	if t.now == nil {
		t.now = map[string]T{}
	}
	if s.change == watch.Deleted {
		delete(t.now, s.object.GetName())
	} else {
		t.now[s.object.GetName()] = s.object
	}
}

// copy is a track that stays as it is. The objects are shared: nobody writes them.
func (t *track[T]) copy() track[T] {
	return track[T]{seen: slices.Clip(t.seen), now: maps.Clone(t.now)}
}

// present are the objects that exist, by name.
func (t *track[T]) present() []T {
	objects := make([]T, 0, len(t.now))
	for _, object := range t.now {
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects
}

// born counts the objects that were ever seen.
func (t *track[T]) born() int {
	uids := map[string]bool{}
	for _, s := range t.seen {
		uids[string(s.object.GetUID())] = true
	}
	return len(uids)
}

// story is what was seen in one namespace. Changes of different kinds may be
// seen in another order than they were made in.
type story struct {
	deployments track[*appsv1.Deployment]
	replicaSets track[*appsv1.ReplicaSet]
	pods        track[*corev1.Pod]
	events      track[*corev1.Event]
}

func (st *story) copy() *story {
	return &story{
		deployments: st.deployments.copy(),
		replicaSets: st.replicaSets.copy(),
		pods:        st.pods.copy(),
		events:      st.events.copy(),
	}
}

// newest is the Deployment's ReplicaSet with the highest revision; nil without one.
func (st *story) newest(deployment string) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	for _, rs := range st.replicaSets.present() {
		if owner := metav1.GetControllerOf(rs); owner == nil || owner.Name != deployment {
			continue
		}
		if newest == nil || revisionOf(rs) > revisionOf(newest) {
			newest = rs
		}
	}
	return newest
}

// withImage is the ReplicaSet whose template has the image; nil without one.
func (st *story) withImage(image string) *appsv1.ReplicaSet {
	for _, rs := range st.replicaSets.present() {
		if rs.Spec.Template.Spec.Containers[0].Image == image {
			return rs
		}
	}
	return nil
}

// podsOf are the Pods that a ReplicaSet controls, by name.
func (st *story) podsOf(rs *appsv1.ReplicaSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range st.pods.present() {
		if rs != nil && metav1.IsControlledBy(pod, rs) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// readyPodsOf counts the ready Pods of a Deployment that are not being deleted.
func (st *story) readyPodsOf(d *appsv1.Deployment) int {
	count := 0
	for _, rs := range st.replicaSets.now {
		if metav1.IsControlledBy(rs, d) {
			count += st.readyPodsOfReplicaSet(rs)
		}
	}
	return count
}

func (st *story) readyPodsOfReplicaSet(rs *appsv1.ReplicaSet) int {
	count := 0
	for _, pod := range st.podsOf(rs) {
		if _, ready := readySince(pod); ready && pod.DeletionTimestamp == nil {
			count++
		}
	}
	return count
}

// eventsAbout are the events about an object, in the form "Normal Reason: message".
func (st *story) eventsAbout(kind, name string) []string {
	var lines []string
	for _, event := range st.events.present() {
		if event.InvolvedObject.Kind == kind && event.InvolvedObject.Name == name {
			lines = append(lines, eventLine(event))
		}
	}
	slices.Sort(lines)
	return lines
}

// hasEvent says whether there is such an event about an object of the kind; one that
// was repeated counts as well.
func (st *story) hasEvent(kind, line string) bool {
	return slices.ContainsFunc(st.events.present(), func(event *corev1.Event) bool {
		return event.InvolvedObject.Kind == kind && eventLine(event) == line
	})
}

func eventLine(event *corev1.Event) string {
	return fmt.Sprintf("%s %s %s: %s", event.Source.Component, event.Type, event.Reason, event.Message)
}

// sumOfSizes is the sum of spec.replicas over all ReplicaSets.
func (st *story) sumOfSizes() int32 {
	var sum int32
	for _, rs := range st.replicaSets.present() {
		sum += *rs.Spec.Replicas
	}
	return sum
}

// available counts the Pods that are not being deleted and have been ready for a time.
func (st *story) available(minReady time.Duration, at time.Time) int32 {
	var count int32
	for _, pod := range st.pods.present() {
		if since, ready := readySince(pod); ready && pod.DeletionTimestamp == nil && !since.Add(minReady).After(at) {
			count++
		}
	}
	return count
}

// readySince says since when a Pod is ready, in whole seconds. One that is not there is not.
func readySince(pod *corev1.Pod) (time.Time, bool) {
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
