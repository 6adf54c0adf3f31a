package oracle

import (
	"fmt"
	"math"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/controller/deployment/util"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// Decide and Status do not tell the fenceposts as such. maxSurge is seen in the annotation
// max-replicas of a ReplicaSet to create, and maxUnavailable in how many available
// Pods make the Deployment available.
func TestFenceposts(t *testing.T) {
	each(t, 4000, func(t *testing.T, d dice) {
		deployment := randomFenceposts(d)
		max, err := maxReplicas(deployment)
		if err != nil {
			t.Fatalf("deciding on %s: %v", describe(deployment), err)
		}
		wanted := int64(*deployment.Spec.Replicas)
		if want := min(wanted+surge(deployment), math.MaxInt32); max != fmt.Sprint(want) {
			t.Errorf("max-replicas is %s and not %d with %s", max, want, describe(deployment))
		}
		least := wanted - int64(util.MaxUnavailable(*deployment))
		if !isAvailable(deployment, least) {
			t.Errorf("%d available Pods should do with %s", least, describe(deployment))
		}
		if least > 0 && isAvailable(deployment, least-1) {
			t.Errorf("%d available Pods should not do with %s", least-1, describe(deployment))
		}
	})
}

// surge returns what the built-in makes of maxSurge, but in 64 bits: where a percentage of a
// huge size leaves 32, the built-in goes on with what is left of it.
func surge(deployment *appsv1.Deployment) int64 {
	rolling := deployment.Spec.Strategy.RollingUpdate
	if rolling == nil {
		return 0
	}
	size := int(sizeOf(deployment.Spec.Replicas))
	pods, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(rolling.MaxSurge, intstr.FromInt32(0)), size, true)
	if err == nil && pods <= math.MaxInt32 {
		return int64(util.MaxSurge(*withSize(deployment)))
	}
	return int64(pods)
}

// maxReplicas returns what a Deployment without ReplicaSets notes on its first one.
func maxReplicas(deployment *appsv1.Deployment) (string, error) {
	plan, err := rollout.Decide(rollout.Snapshot{Deployment: deployment, Now: time.Now()})
	if err != nil {
		return "", err
	}
	return plan.Create.ReplicaSet.Annotations[util.MaxReplicasAnnotation], nil
}

// isAvailable reports whether a Deployment with that many available Pods calls itself so.
func isAvailable(deployment *appsv1.Deployment, pods int64) bool {
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "only", UID: "only"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: deployment.Spec.Replicas, Template: deployment.Spec.Template},
		Status:     appsv1.ReplicaSetStatus{AvailableReplicas: int32(pods)},
	}
	snapshot := rollout.Snapshot{Deployment: deployment, ReplicaSets: []*appsv1.ReplicaSet{rs}, Now: time.Now()}
	report := rollout.Status(snapshot, rollout.Plan{}, rollout.Outcome{})
	condition := util.GetDeploymentCondition(report.Status, appsv1.DeploymentAvailable)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

func randomFenceposts(d dice) *appsv1.Deployment {
	size := randomSize(d)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &size, Strategy: randomStrategy(d, size)},
	}
	if rolling := deployment.Spec.Strategy.RollingUpdate; rolling != nil {
		if d.chance(10) {
			rolling.MaxSurge = nil
		}
		if d.chance(10) {
			rolling.MaxUnavailable = nil
		}
	}
	return deployment
}

// randomStrategy returns a strategy that the API server takes for that size.
func randomStrategy(d dice, size int32) appsv1.DeploymentStrategy {
	if d.chance(20) {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	surge, unavailable := randomPost(d, size), randomPost(d, size)
	if unavailable.Type == intstr.String && len(unavailable.StrVal) > len("100%") {
		unavailable = intstr.FromString("100%") // more is refused
	}
	if isZero(surge) && isZero(unavailable) {
		surge = intstr.FromInt32(1) // both at 0 is refused
	}
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
	}
}

func randomPost(d dice, size int32) intstr.IntOrString {
	if d.chance(50) {
		return intstr.FromString(fmt.Sprintf("%d%%", pick(d, 0, 1, 10, 25, 25, 33, 50, 99, 100, 1000, d.IntN(101))))
	}
	return intstr.FromInt32(pick[int32](d, 0, 0, 1, 1, 2, 3, 100, size, math.MaxInt32, d.Int32N(20)))
}

func isZero(post intstr.IntOrString) bool {
	return post.IntVal == 0 && (post.StrVal == "" || post.StrVal == "0%")
}

// randomSize is a number of Pods: a small one mostly, but also none and all there can be.
func randomSize(d dice) int32 {
	return pick[int32](d, 0, 1, 1, 2, 3, 3, 5, 10, 10, d.Int32N(100), pick[int32](d, 100, 101, 1000, 50000, 1<<30, math.MaxInt32))
}

// describe puts into one line what the size and the strategy of a Deployment are.
func describe(deployment *appsv1.Deployment) string {
	text := fmt.Sprintf("%d replicas, %s", *deployment.Spec.Replicas, deployment.Spec.Strategy.Type)
	if rolling := deployment.Spec.Strategy.RollingUpdate; rolling != nil {
		text += fmt.Sprintf(" maxSurge %v maxUnavailable %v", rolling.MaxSurge, rolling.MaxUnavailable)
	}
	return text
}
