package simulation

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/pods"
)

// Violation is a property that did not hold.
type Violation struct{ Property, Detail string }

func (v *Violation) Error() string { return v.Property + ": " + v.Detail }

// checker checks the properties after every event: those of what is on the API server after
// each write, the others when there is something new to judge. The properties are the
// functions that call fail; each says in its comment what must hold and what is tolerated.
type checker struct {
	world     *World
	violation *Violation // the first one

	sizes   map[types.UID]sizing     // the last sizes that the Deployment loop wrote
	origins map[types.UID]origin     // of Pods
	touched map[types.UID]int64      // when somebody but the loops last wrote metadata of a Pod
	deleted map[types.UID]int        // which process deleted a Pod
	tried   map[types.UID]int        // how often a process asked for that
	changed map[string]time.Duration // when admission last changed one template of a Deployment
	quiet   map[types.UID]bool       // Deployments whose bounds hold for what really is there
	chains  map[types.UID]*chain     // of Pods that failed, by ReplicaSet
	denied  map[denial]*denials      // Pods that the quota has no room for
	samples int                      // of what is too slow to check each time
	garbled bool                     // revisions may fall: users wrote them or took ReplicaSets away, or a first list was old
}

// sizing is a size that a process wrote.
type sizing struct {
	process int
	version int64
	size    int32
}

// origin is who created a Pod: a process, or 0 for somebody else.
type origin struct {
	process int
	version int64
}

func newChecker(w *World) *checker {
	return &checker{
		world: w, sizes: map[types.UID]sizing{}, origins: map[types.UID]origin{}, touched: map[types.UID]int64{},
		deleted: map[types.UID]int{}, tried: map[types.UID]int{}, quiet: map[types.UID]bool{}, changed: map[string]time.Duration{},
		denied: map[denial]*denials{}, chains: map[types.UID]*chain{},
	}
}

// fail notes that a property does not hold.
func (c *checker) fail(property, format string, values ...any) {
	if c.violation == nil {
		c.violation = &Violation{Property: property, Detail: fmt.Sprintf(format, values...)}
		c.world.tell("FAULT", "%s", c.violation.Error())
	}
}

// deployment checks a change of a Deployment.
func (c *checker) deployment(by *writer, ch change[*appsv1.Deployment]) {
	if ch.new == nil || ch.old == nil {
		delete(c.quiet, uidOf(ch))
		return
	}
	if by.sync == nil {
		c.keepsQuiet(ch)
		return
	}
	c.revisionOfDeploymentRises(ch)
	c.observedGenerationRises(ch.old.Status.ObservedGeneration, ch.new.Status.ObservedGeneration, ch.new)
	if by.sync.deployment != nil && !apiequality.Semantic.DeepEqual(ch.old.Status, ch.new.Status) {
		c.countsAddUp(ch.new)
		c.conditionsMoveAsTheyMay(by.sync, ch)
	}
	c.becomesQuiet(ch.new)
}

// replicaSet checks a change of a ReplicaSet.
func (c *checker) replicaSet(by *writer, ch change[*appsv1.ReplicaSet]) {
	switch {
	case ch.new == nil:
		clear(c.changed) // its name is free again
		c.shrinksToNothing(by, ch.old)
		if by.sync == nil {
			c.disturbed(controllerOf(ch.old))
		}
		c.garbled = c.garbled || by.sync == nil || c.wasLast(ch.old)
		return
	case by.sync == nil:
		c.replicaSetOfOthers(ch)
		return
	}
	c.oneController(ch.new)
	if ch.old != nil {
		adoptsForTheLiving(c, by.sync, ch)
		if controllerOf(ch.old) != controllerOf(ch.new) {
			c.garbled = true
			c.disturbed(controllerOf(ch.old))
			c.disturbed(controllerOf(ch.new))
		}
		c.revisionOfReplicaSetRises(ch)
		c.observedGenerationRises(ch.old.Status.ObservedGeneration, ch.new.Status.ObservedGeneration, ch.new)
	}
	if ch.old == nil {
		c.oneAMinute(by.sync, ch.new)
	}
	switch s := by.sync; {
	case !s.isDeployment() && ch.old != nil:
		c.countsWhatIsThere(s, ch.new)
	case s.deployment != nil:
		c.resized(s, ch)
	}
	c.boundsHoldInTruth(controllerOf(ch.new))
}

// replicaSetOfOthers notes what somebody but the loops did to a ReplicaSet.
func (c *checker) replicaSetOfOthers(ch change[*appsv1.ReplicaSet]) {
	clear(c.changed)
	c.disturbed(controllerOf(ch.new))
	if controllerOf(ch.new) == "" {
		clear(c.quiet) // whoever likes may adopt it
	}
	if ch.old != nil {
		c.disturbed(controllerOf(ch.old))
		c.garbled = c.garbled || controllerOf(ch.old) != controllerOf(ch.new) || ch.new.DeletionTimestamp != nil
	}
}

// resized checks what the Deployment loop did to the size of a ReplicaSet.
func (c *checker) resized(s *syncing, ch change[*appsv1.ReplicaSet]) {
	from, to := int32(0), size(ch.new)
	if ch.old != nil {
		from = size(ch.old)
	}
	if !c.world.landing {
		switch {
		case ch.old == nil:
			c.pausedCreatesNothing(s, ch.new)
			if to > 0 {
				c.surgeIsKept(s, ch.new)
			}
		case to > from:
			s.grew = true
			c.oldNeverGrows(s, ch.new, from)
			c.thereAndBack(ch)
			c.surgeIsKept(s, ch.new)
		case to < from:
			s.shrank = true
			c.availabilityIsKept(s, ch)
		}
	}
	switch {
	case c.world.landing:
		delete(c.sizes, ch.new.UID) // its sender has given up on it
	case from != to || ch.old == nil:
		c.sizes[ch.new.UID] = sizing{s.process.number, ch.version, to}
	}
}

// pod checks a change of a Pod.
func (c *checker) pod(by *writer, ch change[*corev1.Pod]) {
	uid := uidOf(ch)
	if by.sync == nil {
		if by == &c.world.user {
			c.touched[uid] = ch.version
		}
		c.disturbedByPod(ch)
		return
	}
	switch {
	case ch.old == nil:
		c.origins[uid] = c.originOf(by, ch)
		c.exactPods(by.sync, ch.new)
	case ch.new == nil || ch.new.DeletionTimestamp != nil && ch.old.DeletionTimestamp == nil:
		if !c.world.landing { // its sender has given up on it
			c.deleted[uid] = by.sync.process.number
		}
		c.onlyOwnPods(by.sync, ch.old)
		c.noNeedlessDelete(by.sync)
		c.leastUsefulFirst(by.sync, ch.old)
	default:
		c.oneController(ch.new)
		adoptsForTheLiving(c, by.sync, ch)
		c.disturbedByPod(ch)
	}
	c.boundsHoldInTruth(c.deploymentOf(controllerOfEither(ch)))
}

func controllerOfEither(ch change[*corev1.Pod]) types.UID {
	if ch.new == nil {
		return controllerOf(ch.old)
	}
	return controllerOf(ch.new)
}

// uidOf returns whose change it is.
func uidOf[T object](ch change[T]) types.UID {
	var none T
	if ch.new == none {
		return ch.old.GetUID()
	}
	return ch.new.GetUID()
}

// deploymentOf returns the UID of the Deployment of a ReplicaSet.
func (c *checker) deploymentOf(replicaSet types.UID) types.UID {
	for _, rs := range c.world.server.replicaSets.rows {
		if rs.UID == replicaSet {
			return controllerOf(rs)
		}
	}
	return ""
}

// look notes what the loop sees, by which its writes are judged.
func (c *checker) look(s *syncing) {
	l := s.loop
	s.now = s.process.clock.Now()
	s.seen = [3]int64{l.caches.deployments.version(), l.caches.replicaSets.version(), l.caches.pods.version()}
	s.deployment, s.sets, s.replicaSet, s.active, s.terminating = nil, nil, nil, nil, nil
	if s.isDeployment() {
		s.deployment = s.loop.caches.deployments.get(s.key.Name)
		if s.deployment != nil {
			for _, rs := range s.loop.caches.replicaSets.rows {
				if controllerOf(rs) == s.deployment.UID && matches(s.deployment.Spec.Selector, rs.Labels) {
					s.sets = append(s.sets, rs)
				}
			}

		}
		return
	}
	s.replicaSet = s.loop.caches.replicaSets.get(s.key.Name)
	if s.replicaSet != nil {
		for _, pod := range s.loop.caches.pods.rows {
			switch {
			case belongs(pod, s.replicaSet):
				s.active = append(s.active, pod)
			case controllerOf(pod) == s.replicaSet.UID && pods.IsTerminating(pod):
				s.terminating = append(s.terminating, pod)
			}
		}
		c.stays(s)
	}
}

// belongs reports whether a Pod counts towards the size of a ReplicaSet.
func belongs(pod *corev1.Pod, rs *appsv1.ReplicaSet) bool {
	return controllerOf(pod) == rs.UID && pods.IsActive(pod) && matches(rs.Spec.Selector, pod.Labels)
}

// afterSync checks what a sync did as a whole.
func (c *checker) afterSync(s *syncing) {
	if s.wasted > 0 {
		c.fail("no write is wasted", "the %s wrote for %s what was there already", s.loop.name, s.key.Name)
	}
	c.scalingGoesOneWay(s)
}

// wished notes what a user is about to do.
func (c *checker) wished(name string) {
	if name == "garble an annotation of a ReplicaSet" {
		c.garbled = true
	}
}

// oneController: no object ever has two controllers.
func (c *checker) oneController(o metav1.Object) {
	if n := controllers(o.GetOwnerReferences()); n > 1 {
		c.fail("one controller", "%s has %d", o.GetName(), n)
	}
}
