package simulation

import (
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/replicaset/scale"
)

// cores asks the two cores, each question once.
type cores struct {
	deployments [4]*appsv1.Deployment // by size
	decided     map[decisionOn][]write
	scaled      map[scalingOn]scaling
}

// decisionOn is what a decision on the Deployment depends on.
type decisionOn struct {
	current, wanted int8
	sets            [2]struct {
		there       bool
		wants, for_ int8
		status      status
	}
}

// decide asks the core which ReplicaSets get which size, in order.
func (m *model) decide(s *state) []write {
	key := decisionOn{current: s.SeenCurrent, wanted: s.SeenSize}
	for i := range s.Sets {
		x := &s.Sets[i]
		k := &key.sets[i]
		k.there, k.wants, k.for_, k.status = x.There, x.Wants, x.For, x.SeenStatus.Shows
	}
	if writes, known := m.decided[key]; known {
		return writes
	}
	d := *m.deployments[s.SeenSize]
	d.UID = "deployment"
	d.Spec.Template = template("web", imageNumber(int(s.SeenCurrent)))
	snapshot := rollout.Snapshot{Deployment: &d, Now: epoch()}
	for i, k := range key.sets {
		if k.there {
			snapshot.ReplicaSets = append(snapshot.ReplicaSets, m.replicaSet(i, i == int(s.SeenCurrent), k.wants, k.for_, k.status))
		}
	}
	plan, err := rollout.Decide(snapshot)
	if err != nil {
		panic(err) // a fault of this model
	}
	var writes []write
	if plan.Create != nil {
		writes = append(writes, write{Due: true, Set: s.SeenCurrent, To: int8(size(plan.Create.ReplicaSet)), For: s.SeenSize})
	}
	for _, change := range plan.Change {
		i := int8(slices.Index([]types.UID{"first", "second"}, change.Observed.UID))
		writes = append(writes, write{Due: true, Set: i, To: int8(size(change.Desired)), For: s.SeenSize, Scaling: plan.Scaling})
	}
	m.decided[key] = writes
	return writes
}

// imageNumber is what the Pods of a ReplicaSet run.
func imageNumber(i int) string { return "v" + strconv.Itoa(i+1) }

// replicaSet is the ReplicaSet of a number as a cache shows it.
func (m *model) replicaSet(i int, current bool, wants, madeFor int8, now status) *appsv1.ReplicaSet {
	count, revision := int32(wants), "1"
	if current {
		revision = "2" // to raise it is no matter of this model
	}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + strconv.Itoa(i), Namespace: namespace, UID: []types.UID{"first", "second"}[i],
			CreationTimestamp: metav1.NewTime(epoch().Add(time.Duration(i) * time.Minute)),
			Annotations: map[string]string{
				rollout.RevisionAnnotation:        revision,
				rollout.DesiredReplicasAnnotation: strconv.Itoa(int(madeFor)),
				rollout.MaxReplicasAnnotation:     strconv.Itoa(int(m.most[madeFor])),
			},
		},
		Spec:   appsv1.ReplicaSetSpec{Replicas: &count, Template: template("web", imageNumber(i))},
		Status: appsv1.ReplicaSetStatus{Replicas: int32(now.Has), ReadyReplicas: int32(now.Available), AvailableReplicas: int32(now.Available)},
	}
}

// scalingOn is what the ReplicaSet loop decides on.
type scalingOn struct {
	wants int8
	podCount
}

// scaling is what the ReplicaSet loop does.
type scaling struct {
	create, deletePending, deleteReady int8
	status                             status
}

// scale asks the core what the ReplicaSet loop does with what its cache shows.
func (m *model) scale(wants int8, seen podCount) scaling {
	key := scalingOn{wants, seen}
	if act, known := m.scaled[key]; known {
		return act
	}
	snapshot := scale.Snapshot{ReplicaSet: m.replicaSet(0, true, wants, 0, status{}), Settled: seen.Settled, Now: epoch()}
	for n := range seen.Pending + seen.Ready {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(strconv.Itoa(int(n))), Labels: map[string]string{"app": "web"}}}
		if n >= seen.Pending {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		snapshot.Active = append(snapshot.Active, pod)
	}
	plan := scale.Decide(snapshot)
	now, _ := scale.Status(snapshot, plan, scale.Outcome{})
	act := scaling{create: int8(plan.Create), status: status{int8(now.Replicas), int8(now.AvailableReplicas)}}
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
