package oracle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/deployment/util"
	"sigs.k8s.io/randfill"

	"controller-manager/pkg/controllers/deployment/rollout"
)

func TestHash(t *testing.T) {
	each(t, 1000, func(t *testing.T, d dice) {
		one, collisions := int32(1), randomCollisions(d)
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &one,
				Template: randomTemplate(d),
				Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			},
			Status: appsv1.DeploymentStatus{CollisionCount: collisions},
		}
		want := controller.ComputeHash(&deployment.Spec.Template, collisions)
		plan, err := rollout.Decide(rollout.Snapshot{Deployment: deployment, Now: time.Now()})
		if err != nil {
			t.Fatalf("deciding: %v", err)
		}
		created := plan.Create.ReplicaSet
		if got := created.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; got != want {
			t.Errorf("the hash is %s and not %s of %s", got, want, asJSON(t, deployment.Spec.Template))
		}
		if created.Name != "web-"+want {
			t.Errorf("the name is %s and not web-%s", created.Name, want)
		}
	})
}

func TestSameTemplate(t *testing.T) {
	equal, different := 0, 0
	each(t, 1000, func(t *testing.T, d dice) {
		template := randomTemplate(d)
		owner := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}, Spec: appsv1.DeploymentSpec{Template: template}}
		rs := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, rollout.Kind)}},
			Spec:       appsv1.ReplicaSetSpec{Template: variant(t, d, template)},
		}
		want := util.EqualIgnoreHash(&owner.Spec.Template, &rs.Spec.Template)
		if got := rollout.IsNewReplicaSet(owner, rs); got != want {
			t.Errorf("equal is %v and not %v for\n%s and\n%s", got, want, asJSON(t, owner.Spec.Template), asJSON(t, rs.Spec.Template))
		}
		if want {
			equal++
		} else {
			different++
		}
	})
	if (equal == 0 || different == 0) && usual() {
		t.Errorf("%d equal and %d different pairs prove nothing", equal, different)
	}
}

// randomTemplate fills in any field that a Pod template has.
func randomTemplate(d dice) corev1.PodTemplateSpec {
	filler := randfill.NewWithSeed(d.Int64()).NilChance(0.6).NumElements(0, 2).MaxDepth(9).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(fmt.Sprintf("%d%s", c.Intn(5000), pick(d, "", "m", "Mi", "k")))
		},
		func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(c.Int31()) },
		func(m *metav1.Time, c randfill.Continue) { *m = metav1.Unix(c.Int63n(2e9), 0) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { *f = metav1.FieldsV1{} },
	)
	var template corev1.PodTemplateSpec
	filler.Fill(&template)
	return template
}

// variant returns a template that is the same in other words, or is another.
func variant(t *testing.T, d dice, template corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	t.Helper()
	other := *template.DeepCopy()
	if d.chance(50) { // as it comes from the API server: what is empty is nil
		other = corev1.PodTemplateSpec{}
		if err := json.Unmarshal([]byte(asJSON(t, template)), &other); err != nil {
			t.Fatalf("decoding a template: %v", err)
		}
	}
	if d.chance(70) {
		if other.Labels == nil {
			other.Labels = map[string]string{}
		}
		other.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = pick(d, "", "75c7f9d6")
	}
	for i := range other.Spec.Containers {
		for name, quantity := range other.Spec.Containers[i].Resources.Limits {
			quantity = quantity.DeepCopy()
			other.Spec.Containers[i].Resources.Limits[name] = *resource.NewMilliQuantity(quantity.MilliValue(), resource.DecimalSI)
		}
	}
	switch {
	case d.chance(70):
	case d.chance(30):
		other.Annotations = map[string]string{"restarted": "now"}
	case d.chance(30):
		other.Spec.NodeName += "x"
	case len(other.Spec.Containers) > 0:
		other.Spec.Containers[0].Env = append(other.Spec.Containers[0].Env, corev1.EnvVar{Name: "A", Value: strings.Repeat("b", d.IntN(2))})
	default:
		other.Labels = map[string]string{"app": "other"}
	}
	return other
}

func randomCollisions(d dice) *int32 {
	count := pick(d, int32(0), 1, 3, 1<<20)
	return pick(d, nil, &count)
}
