package replicaset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// kind is what this loop's Pods name as the kind of their controller.
var kind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// The name that the API server makes of a generateName: at most 58 bytes of it, so that the
// whole fits a DNS label, and five random characters.
const (
	suffixLength = 5
	longestBase  = 63 - suffixLength
)

// newPod returns the Pod to create under the given name. It shares nothing with the cache,
// although it is only sent: encoding a quantity writes to it. generateName is set as well,
// as others expect it, though it has no effect beside a name.
func newPod(rs *appsv1.ReplicaSet, name string) *corev1.Pod {
	template := rs.Spec.Template.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			GenerateName:    namePrefix(rs),
			Namespace:       rs.Namespace,
			Labels:          template.Labels,
			Annotations:     template.Annotations,
			Finalizers:      template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, kind)},
		},
		Spec: template.Spec,
	}
}

// podName returns the name for a Pod of the ReplicaSet that ends as given. We choose it, and
// not the API server, so that a create whose answer is lost can be sent again: under the
// same name it cannot make a second Pod.
func podName(rs *appsv1.ReplicaSet, suffix string) string {
	base := namePrefix(rs)
	return base[:min(len(base), longestBase)] + suffix
}

func randomSuffix() string { return rand.String(suffixLength) }

// namePrefix is what the names of the ReplicaSet's Pods begin with. Every name that a
// ReplicaSet can have gives a prefix that the API server takes, even the longest: for a
// prefix it does not count the dash.
func namePrefix(rs *appsv1.ReplicaSet) string {
	return rs.Name + "-"
}
