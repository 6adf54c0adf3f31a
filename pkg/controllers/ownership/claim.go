package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Claim is what an owner should do about the objects that it might manage. Objects
// that are none of its business are in no list.
type Claim[T metav1.Object] struct {
	// Keep holds the objects it controls and that match its selector.
	Keep []T
	// Adopt holds the objects without a controller that match its selector.
	Adopt []T
	// Release holds the objects it controls that no longer match its selector.
	Release []T
}

// Settled reports whether nothing has to be adopted or released.
func (c Claim[T]) Settled() bool {
	return len(c.Adopt) == 0 && len(c.Release) == 0
}

// Sort decides, for each object of the owner's namespace, whether the owner keeps,
// adopts or releases it. An owner that is being deleted takes on nothing and lets
// nothing go: the garbage collector needs the references as they are. An empty
// selector matches nothing here, not everything.
func Sort[T metav1.Object](owner metav1.Object, selector labels.Selector, objects []T) Claim[T] {
	var claim Claim[T]
	leaving := owner.GetDeletionTimestamp() != nil
	for _, object := range objects {
		matches := !selector.Empty() && selector.Matches(labels.Set(object.GetLabels()))
		switch controller := metav1.GetControllerOfNoCopy(object); {
		case controller != nil && controller.UID != owner.GetUID():
			// Somebody else's, whatever its labels say.
		case controller != nil && matches:
			claim.Keep = append(claim.Keep, object)
		case controller != nil && !leaving:
			claim.Release = append(claim.Release, object)
		case controller == nil && matches && !leaving && object.GetDeletionTimestamp() == nil:
			claim.Adopt = append(claim.Adopt, object)
		}
	}
	return claim
}
