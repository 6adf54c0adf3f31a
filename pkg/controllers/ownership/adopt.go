package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Owner is a controller object together with the two requests that taking on and
// letting go of objects needs.
type Owner[T metav1.Object] struct {
	Object metav1.Object
	Kind   schema.GroupVersionKind
	// Live reads the owner from the API server, past every cache.
	Live func(context.Context) (metav1.Object, error)
	// Patch sends a strategic merge patch for one object and returns the result.
	Patch func(ctx context.Context, object T, patch []byte) (T, error)
}

// Settle carries out a claim: it adopts and releases, and returns the objects as
// they are now on the API server. The caches are behind from then on. Objects that
// vanished meanwhile are no error. Errors are joined, so that one object that
// cannot be patched keeps no other from its place.
//
// Before the first adoption the owner is read again from the API server, because
// adopting for an owner that has just been deleted would hand the object to the
// garbage collector.
//
// Once the context has ended no patch is begun, but one under way is left to finish.
func (o Owner[T]) Settle(ctx context.Context, claim Claim[T]) ([]T, error) {
	var settled []T
	var failures []error
	patch := func(object T, patch []byte, doing string) {
		if ctx.Err() != nil {
			return
		}
		result, err := o.Patch(context.WithoutCancel(ctx), object, patch)
		switch {
		case err == nil:
			settled = append(settled, result)
		case !apierrors.IsNotFound(err):
			failures = append(failures, fmt.Errorf("%s %s: %w", doing, object.GetName(), err))
		}
	}
	for _, object := range claim.Release {
		patch(object, releasePatch(object, o.Object), "releasing")
	}
	if len(claim.Adopt) > 0 && ctx.Err() == nil {
		switch here, err := o.isHere(ctx); {
		case err != nil:
			return settled, errors.Join(append(failures, err)...)
		case !here:
			return settled, errors.Join(failures...)
		}
	}
	for _, object := range claim.Adopt {
		patch(object, adoptPatch(object, o.Object, o.Kind), "adopting")
	}
	return settled, errors.Join(failures...)
}

// isHere reports whether the owner is still there, and is to stay. That it is not is
// no error: the cache will show it in a moment.
func (o Owner[T]) isHere(ctx context.Context) (bool, error) {
	live, err := o.Live(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %s %s before it adopts: %w", o.Kind.Kind, o.Object.GetName(), err)
	}
	return live.GetUID() == o.Object.GetUID() && live.GetDeletionTimestamp() == nil, nil
}

// ownerPatch is a strategic merge patch of owner references: the list merges by
// UID. The object's own UID in it makes the API server refuse the patch for
// another object of the same name.
type ownerPatch struct {
	Metadata struct {
		UID             types.UID `json:"uid"`
		OwnerReferences []any     `json:"ownerReferences"`
	} `json:"metadata"`
}

func adoptPatch(object, owner metav1.Object, kind schema.GroupVersionKind) []byte {
	return encodePatch(object, metav1.NewControllerRef(owner, kind))
}

func releasePatch(object, owner metav1.Object) []byte {
	return encodePatch(object, map[string]string{"$patch": "delete", "uid": string(owner.GetUID())})
}

func encodePatch(object metav1.Object, reference any) []byte {
	var patch ownerPatch
	patch.Metadata.UID = object.GetUID()
	patch.Metadata.OwnerReferences = []any{reference}
	encoded, err := json.Marshal(patch)
	if err != nil {
		panic(fmt.Sprintf("encoding an owner reference: %v", err)) // strings and booleans always encode
	}
	return encoded
}
