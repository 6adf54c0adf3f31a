package rollout

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fenceposts are the bounds of a rolling update, in Pods: at most surge above the wanted
// number may exist, and at most unavailable of the wanted number may be missing.
type fenceposts struct {
	surge, unavailable int64
}

// resolveFenceposts turns the Deployment's maxSurge and maxUnavailable into numbers of
// Pods. Percentages are of spec.replicas; surge rounds up and unavailable rounds down, as
// the API documents them. Rounding can leave both at 0, where no Pod could ever be
// replaced; then one Pod may be unavailable, because room for a surge Pod may not
// exist. A Recreate Deployment has no fenceposts: both are 0.
func resolveFenceposts(d *appsv1.Deployment) (fenceposts, error) {
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return fenceposts{}, nil
	}
	var rolling appsv1.RollingUpdateDeployment
	if d.Spec.Strategy.RollingUpdate != nil {
		rolling = *d.Spec.Strategy.RollingUpdate
	}
	wanted := replicas(d.Spec.Replicas)
	surge, err := resolve(rolling.MaxSurge, wanted, true)
	if err != nil {
		return fenceposts{}, fmt.Errorf("reading maxSurge of Deployment %s: %w", d.Name, err)
	}
	unavailable, err := resolve(rolling.MaxUnavailable, wanted, false)
	if err != nil {
		return fenceposts{}, fmt.Errorf("reading maxUnavailable of Deployment %s: %w", d.Name, err)
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return fenceposts{surge: surge, unavailable: min(unavailable, wanted)}, nil
}

func resolve(post *intstr.IntOrString, wanted int64, roundUp bool) (int64, error) {
	value, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(post, intstr.FromInt32(0)), int(wanted), roundUp)
	return int64(value), err
}
