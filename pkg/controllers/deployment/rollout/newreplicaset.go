package rollout

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	alphabet "k8s.io/apimachinery/pkg/util/rand" // only its encoding: nothing here is left to chance
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/dump"
)

// hashLabel distinguishes the Pods of one revision from those of the others.
const hashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// Kind is the kind of the objects that this loop controls other objects for.
var Kind = appsv1.SchemeGroupVersion.WithKind("Deployment")

// sameTemplate reports whether two Pod templates are the same revision. They are compared
// for meaning (nil equals empty, 1 equals 1000m), and without the hash label, which only
// the ReplicaSet's copy carries.
//
// Most differ in an image, which is quickly seen.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	if !slices.EqualFunc(a.Spec.Containers, b.Spec.Containers, sameImage) {
		return false
	}
	left, right := withoutHash(a), withoutHash(b)
	return apiequality.Semantic.DeepEqual(&left, &right)
}

func sameImage(a, b corev1.Container) bool { return a.Image == b.Image }

// IsNewReplicaSet reports whether the ReplicaSet, as it is on the API server, is
// controlled by the Deployment and has its template: whether it is the new one.
func IsNewReplicaSet(d *appsv1.Deployment, rs *appsv1.ReplicaSet) bool {
	return metav1.IsControlledBy(rs, d) && sameTemplate(&rs.Spec.Template, &d.Spec.Template)
}

func withoutHash(template *corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	plain := *template
	if _, has := template.Labels[hashLabel]; has {
		plain.Labels = maps.Clone(template.Labels)
		delete(plain.Labels, hashLabel)
	}
	return plain
}

// templateHash names a template. It must come out as the built-in controller's does, or
// a Deployment that changes hands would look as if its template had changed: 32-bit
// FNV-1a over a printed form of the template, then the collision count.
func templateHash(template *corev1.PodTemplateSpec, collisionCount *int32) string {
	hash := fnv.New32a()
	// Writing to a hash never fails.
	_, _ = fmt.Fprintf(hash, "%v", dump.ForHash(*template))
	if collisionCount != nil {
		var count [8]byte
		binary.LittleEndian.PutUint32(count[:], uint32(*collisionCount))
		_, _ = hash.Write(count[:])
	}
	return alphabet.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}

// replicaSetName is the Deployment's name, cut where the whole would be longer than an
// object's name may be, and the hash. A cut behind a dot goes before it: no part of a name
// may begin with a dash.
func replicaSetName(deployment, hash string) string {
	room := validation.DNS1123SubdomainMaxLength - len("-") - len(hash)
	return strings.TrimRight(deployment[:min(len(deployment), room)], ".") + "-" + hash
}

// newReplicaSet returns the ReplicaSet to create for the Deployment's template. It has no
// size and no annotations yet.
func newReplicaSet(d *appsv1.Deployment) *appsv1.ReplicaSet {
	hash := templateHash(&d.Spec.Template, d.Status.CollisionCount)
	template := *d.Spec.Template.DeepCopy()
	template.Labels = withLabel(template.Labels, hash)
	selector := &metav1.LabelSelector{}
	if d.Spec.Selector != nil {
		d.Spec.Selector.DeepCopyInto(selector)
	}
	selector.MatchLabels = withLabel(selector.MatchLabels, hash)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:            replicaSetName(d.Name, hash),
			Namespace:       d.Namespace,
			Labels:          maps.Clone(template.Labels),
			Annotations:     map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, Kind)},
		},
		Spec: appsv1.ReplicaSetSpec{
			MinReadySeconds: d.Spec.MinReadySeconds,
			Selector:        selector,
			Template:        template,
		},
	}
}

func withLabel(labels map[string]string, hash string) map[string]string {
	labeled := make(map[string]string, len(labels)+1)
	maps.Copy(labeled, labels)
	labeled[hashLabel] = hash
	return labeled
}
