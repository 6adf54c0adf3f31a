package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/replicaset/scale"
)

// model is a rollout so small that all its states can be visited. Both cores are the real ones;
// of the shells and of the cluster it has what matters for the bounds: each loop waits until
// its cache shows what it has written itself; all else in a cache may be old; a write to
// what has changed meanwhile is refused; and a list of writes may end after any of them.
type model struct {
	deployment *appsv1.Deployment
	most       int8 // what may be asked for in all
	least      int8 // what must be ready
	decided    map[[6]int8][][2]int8
	scaled     map[[4]int8]scaling
}

// state is the old and the new ReplicaSet.
type state [2]set

// set is a ReplicaSet as it is, and as the caches show it.
type set struct {
	There                  bool
	Wants, Pending, Ready  int8 // as it is
	Has, Available         int8 // as its status says
	SeenHas, SeenAvailable int8 // the status in the cache of the Deployment loop
	SeenWants              int8 // the size in the cache of the ReplicaSet loop
	SeenPending, SeenReady int8 // the Pods in that cache
	Settled                bool // that cache shows all that the ReplicaSet loop has done
}

// scaling is what the ReplicaSet loop does.
type scaling struct {
	create, deletePending, deleteReady int8
	has, available                     int8
}

func newModel(wanted int, surge, unavailable intstr.IntOrString) *model {
	d := newDeployment("web", "v2", int32(wanted))
	d.UID = "deployment"
	d.Spec.Strategy = rolling(surge, unavailable)
	d.Spec.RevisionHistoryLimit = nil // then nothing is deleted
	most, least := bounds(d)
	return &model{deployment: d, most: int8(most), least: int8(least), decided: map[[6]int8][][2]int8{}, scaled: map[[4]int8]scaling{}}
}

// first is the state in which the template has just been changed.
func (m *model) first() state {
	n := int8(*m.deployment.Spec.Replicas)
	return state{{There: true, Wants: n, Ready: n, Has: n, Available: n, SeenHas: n, SeenAvailable: n, SeenWants: n, SeenReady: n, Settled: true}, {Settled: true}}
}

// broken says which bound does not hold; "" if all do.
func (m *model) broken(s state) string {
	if asked := s[0].Wants + s[1].Wants; asked > m.most {
		return fmt.Sprintf("%d Pods are asked for, and %d may be", asked, m.most)
	}
	if ready := s[0].Ready + s[1].Ready; ready < m.least {
		return fmt.Sprintf("%d Pods are ready, and %d must be", ready, m.least)
	}
	return ""
}

// isEnd reports whether the rollout is complete and everybody knows.
func (m *model) isEnd(s state) bool {
	n := int8(*m.deployment.Spec.Replicas)
	fresh := set{There: true, Wants: n, Ready: n, Has: n, Available: n, SeenHas: n, SeenAvailable: n, SeenWants: n, SeenReady: n, Settled: true}
	return s[0] == set{There: true, Settled: true} && s[1] == fresh
}

// steps returns the states that can come next.
func (m *model) steps(s state) []state {
	after := m.deploymentSyncs(s)
	for i := range s {
		if !s[i].There {
			continue
		}
		step := func(change func(*set)) {
			t := s
			change(&t[i])
			after = append(after, t)
		}
		step(func(x *set) { x.SeenHas, x.SeenAvailable = x.Has, x.Available })
		step(func(x *set) { x.SeenWants = x.Wants })
		step(func(x *set) { x.SeenPending, x.SeenReady, x.Settled = x.Pending, x.Ready, true })
		if s[i].Pending > 0 {
			step(func(x *set) { x.Pending--; x.Ready++ })
		}
		after = append(after, m.replicaSetSyncs(s, i)...)
	}
	return slices.DeleteFunc(after, func(t state) bool { return t == s })
}

// deploymentSyncs returns the states after a sync of the Deployment loop that got through with
// the first of its writes, or more, or all.
func (m *model) deploymentSyncs(s state) []state {
	var after []state
	for _, write := range m.decide(s) {
		i, to := write[0], write[1]
		stale := s[i].SeenHas != s[i].Has || s[i].SeenAvailable != s[i].Available
		if s[i].There && stale {
			break // refused: the ReplicaSet has changed
		}
		s[i].There, s[i].Wants = true, to
		// It looks again only when its cache shows this, and so all that was before.
		for j := range s {
			s[j].SeenHas, s[j].SeenAvailable = s[j].Has, s[j].Available
		}
		after = append(after, s)
	}
	return after
}

// decide asks the core which ReplicaSets get which size, in order.
func (m *model) decide(s state) [][2]int8 {
	key := [6]int8{s[0].Wants, s[0].SeenHas, s[0].SeenAvailable, s[1].Wants, s[1].SeenHas, s[1].SeenAvailable}
	if !s[1].There {
		key[3] = -1
	}
	if writes, known := m.decided[key]; known {
		return writes
	}
	snapshot := rollout.Snapshot{Deployment: m.deployment, Now: epoch()}
	for i := range s {
		if s[i].There {
			snapshot.ReplicaSets = append(snapshot.ReplicaSets, m.replicaSet(i, s[i].Wants, s[i].SeenHas, s[i].SeenAvailable))
		}
	}
	plan, err := rollout.Decide(snapshot)
	if err != nil {
		panic(err) // a fault of this model
	}
	var writes [][2]int8
	if plan.Create != nil {
		writes = append(writes, [2]int8{1, int8(size(plan.Create.ReplicaSet))})
	}
	for _, change := range plan.Change {
		i := int8(slices.Index([]types.UID{"old", "new"}, change.Observed.UID))
		writes = append(writes, [2]int8{i, int8(size(change.Desired))})
	}
	m.decided[key] = writes
	return writes
}

// replicaSet is the ReplicaSet of a number as a cache shows it.
func (m *model) replicaSet(i int, wants, has, available int8) *appsv1.ReplicaSet {
	d := m.deployment
	count, number := int32(wants), strconv.Itoa(i+1)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + number, Namespace: namespace, UID: []types.UID{"old", "new"}[i], CreationTimestamp: metav1.NewTime(epoch().Add(time.Duration(i) * time.Minute)),
			Annotations: map[string]string{
				rollout.RevisionAnnotation:        number,
				rollout.DesiredReplicasAnnotation: strconv.Itoa(int(*d.Spec.Replicas)),
				rollout.MaxReplicasAnnotation:     strconv.Itoa(int(m.most)),
			},
		},
		Spec:   appsv1.ReplicaSetSpec{Replicas: &count, Template: template("web", "v"+number)},
		Status: appsv1.ReplicaSetStatus{Replicas: int32(has), ReadyReplicas: int32(available), AvailableReplicas: int32(available)},
	}
}

// replicaSetSyncs returns the states after a sync of the ReplicaSet loop, however far it got.
func (m *model) replicaSetSyncs(s state, i int) []state {
	x := s[i]
	act := m.scale(x)
	var after []state
	for created := range act.create + 1 {
		// A Pod that has become ready unseen is not the one any more that was chosen.
		for pending := range min(act.deletePending, x.Pending) + 1 {
			for ready := range act.deleteReady + 1 {
				t := s
				t[i].Pending += created - pending
				t[i].Ready -= ready
				t[i].Settled = x.Settled && act.create+act.deletePending+act.deleteReady == 0
				if x.SeenWants == x.Wants { // else the status is refused
					t[i].Has, t[i].Available = act.has, act.available
				}
				after = append(after, t)
			}
		}
	}
	return after
}

// scale asks the core what the ReplicaSet loop does with what its cache shows.
func (m *model) scale(x set) scaling {
	settled := int8(0)
	if x.Settled {
		settled = 1
	}
	key := [4]int8{x.SeenWants, x.SeenPending, x.SeenReady, settled}
	if act, known := m.scaled[key]; known {
		return act
	}
	snapshot := scale.Snapshot{ReplicaSet: m.replicaSet(0, x.SeenWants, 0, 0), Settled: x.Settled, Now: epoch()}
	for n := range x.SeenPending + x.SeenReady {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(strconv.Itoa(int(n))), Labels: map[string]string{"app": "web"}}}
		if n >= x.SeenPending {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		snapshot.Active = append(snapshot.Active, pod)
	}
	plan := scale.Decide(snapshot)
	status, _ := scale.Status(snapshot, plan, scale.Outcome{})
	act := scaling{create: int8(plan.Create), has: int8(status.Replicas), available: int8(status.AvailableReplicas)}
	for _, pod := range plan.Delete {
		if readiness(pod) == corev1.ConditionTrue {
			act.deleteReady++
		} else {
			act.deletePending++
		}
	}
	m.scaled[key] = act
	return act
}
