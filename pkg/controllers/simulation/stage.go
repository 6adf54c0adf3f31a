package simulation

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stage is a world in which nothing is left to chance: caches do not lag, the loops act at
// once, and a Pod takes a known time to become ready and to stop. What is told happens on it.
type stage struct {
	*World
	tale *tale

	readyAfter time.Duration // how long Pods take to become ready
	stopAfter  time.Duration // how long they take to stop
	since      map[types.UID]time.Duration
	leaving    map[types.UID]time.Duration
	kept       map[types.UID]bool // Pods that stay as they are

	// lost ends the story: it goes on with something that is not there.
	lost func(format string, values ...any)
}

// How long Pods take on a stage, where a story does not say otherwise.
const (
	untilRunning = time.Second
	untilReady   = 5 * time.Second
	untilSlow    = time.Minute
	untilStopped = 2 * time.Second
)

// newStage returns a stage with a process that leads. The function lost does not return. Its clock begins at a whole second.
func newStage(lost func(format string, values ...any)) *stage {
	w := newWorld(nil)
	w.clock.elapsed = epoch().Truncate(time.Second).Add(time.Second).Sub(epoch())
	t := &tale{world: w, from: w.clock.elapsed, names: newNames()}
	w.narrator = t
	w.plain = true
	w.start(0)
	return &stage{
		World: w, tale: t, lost: lost, readyAfter: untilReady, stopAfter: untilStopped,
		since: map[types.UID]time.Duration{}, leaving: map[types.UID]time.Duration{}, kept: map[types.UID]bool{},
	}
}

// play lets everything happen that happens within a time, and passes it.
func (s *stage) play(d time.Duration) {
	end := s.clock.elapsed + d
	for s.settle(); s.check.violation == nil; s.settle() {
		next, found := s.next()
		if !found || next > end {
			break
		}
		s.pass(next - s.clock.elapsed)
	}
	s.pass(end - s.clock.elapsed)
}

// rest lets everything happen until nothing happens any more. A story that does not come to
// rest ends after a day.
func (s *stage) rest() {
	end := s.clock.elapsed + mostTime
	for s.settle(); s.check.violation == nil; s.settle() {
		next, found := s.next()
		if !found {
			return
		}
		if next > end {
			s.check.fail("eventually stable", "after %s there is still something to do", mostTime)
			return
		}
		s.pass(next - s.clock.elapsed)
	}
}

// next returns when something happens by itself, and false if nothing does.
func (s *stage) next() (time.Duration, bool) {
	next, found := s.timer()
	for _, pod := range s.server.pods.rows {
		if at, has := s.due(pod); has && (!found || at < next) {
			next, found = at, true
		}
	}
	return max(next, s.clock.elapsed), found
}

// settle lets everybody do what there is to do at this moment.
func (s *stage) settle() {
	for before := -1; before != s.Events && s.check.violation == nil; {
		before = s.Events
		for _, r := range s.readers() {
			s.read(r, r.lag(), false)
		}
		s.syncOne()
		if before == s.Events {
			s.pods()
		}
		if before == s.Events && s.collect() {
			s.tale.synced("collector")
		}
	}
}

// syncOne lets a loop work on one key: the ReplicaSets' loop first, so that the Deployments'
// sees what came of its last step.
func (s *stage) syncOne() {
	if s.process == nil {
		return
	}
	for _, i := range []int{1, 0} {
		if l := s.process.loops[i]; l.queue.Len() > 0 {
			s.sync(s.process, l, 0)
			s.tale.synced([2]string{"deployment", "replicaset"}[i])
			return
		}
	}
}

// pods lets Pods take their next steps, in the order of their creation, and tells how many
// became ready or stopped. An order by name would be one by hash.
func (s *stage) pods() {
	var order []string
	count := map[string]int{}
	for _, pod := range slices.SortedFunc(slices.Values(s.server.pods.rows), s.olderPod) {
		at, has := s.due(pod)
		if !has || at > s.clock.elapsed {
			continue
		}
		what := s.step(pod)
		if what == "" {
			continue
		}
		what = " of " + s.ownerName(pod) + " " + what
		if count[what] == 0 {
			order = append(order, what)
		}
		count[what]++
	}
	for _, what := range order {
		s.tale.does("%s%s", some(count[what]), what)
	}
	s.tale.synced("kubelet")
}

func (s *stage) olderPod(a, b *corev1.Pod) int {
	return cmp.Compare(s.tale.names.born[a.Name], s.tale.names.born[b.Name])
}

func (s *stage) ownerName(pod *corev1.Pod) string {
	for _, owner := range pod.OwnerReferences {
		return owner.Name
	}
	return "nobody"
}

// due returns when a Pod takes its next step, and false if it takes none by itself.
func (s *stage) due(pod *corev1.Pod) (time.Duration, bool) {
	if _, known := s.since[pod.UID]; !known {
		s.since[pod.UID] = s.clock.elapsed
	}
	since := s.since[pod.UID]
	switch {
	case pod.DeletionTimestamp != nil:
		if _, known := s.leaving[pod.UID]; !known {
			s.leaving[pod.UID] = s.clock.elapsed
		}
		return s.leaving[pod.UID] + s.stopAfter, len(pod.Finalizers) == 0
	case s.kept[pod.UID]:
		return 0, false
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return 0, false
	case pod.Spec.NodeName == "":
		return since, true
	case pod.Spec.Containers[0].Image == brokenImage:
		return 0, false // it waits for its image
	case pod.Status.Phase != corev1.PodRunning:
		return since + untilRunning, true
	case pod.Spec.Containers[0].Image == crashImage:
		return since + untilRunning + time.Second, true
	case readiness(pod) == corev1.ConditionTrue:
		return 0, false
	case pod.Spec.Containers[0].Image == slowImage:
		return since + untilSlow, true
	}
	return since + s.readyAfter, true
}

// step lets a Pod take its next step, and returns those worth a word.
func (s *stage) step(pod *corev1.Pod) string {
	running := pod.Status.Phase == corev1.PodRunning
	switch {
	case pod.DeletionTimestamp != nil:
		s.advance(pod)
		return "stopped"
	case running && pod.Spec.Containers[0].Image == crashImage:
		s.end(pod, corev1.PodFailed, "Error")
		return "failed"
	case running:
		s.advance(pod)
		return "became ready"
	}
	s.advance(pod)
	return ""
}

// deployment returns the one Deployment of the story.
func (s *stage) deployment() *appsv1.Deployment { return s.server.deployments.get("web") }

// named returns the ReplicaSet of a name that the tale gave.
func (s *stage) named(label string) *appsv1.ReplicaSet {
	for _, rs := range s.server.replicaSets.rows {
		if s.tale.names.labels[rs.Name] == label {
			return rs
		}
	}
	s.lost("there is no ReplicaSet %s at this point of the story", label)
	return nil
}
