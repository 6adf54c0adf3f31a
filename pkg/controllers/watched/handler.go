package watched

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Handler returns an event handler that calls changed for every event of an informer of T
// (a pointer type): with old nil when the object is new to the cache, with current nil
// when it is gone, and with both when it has changed, or at a resync, when both are
// the same.
//
// An object that was deleted and made again under the same name while the watch was
// interrupted arrives as one update. Handler makes two events of it, since it is two
// objects. One whose deletion was missed arrives wrapped, with the last state known.
func Handler[T metav1.Object](changed func(old, current T)) cache.ResourceEventHandler {
	var none T
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if current, ok := object.(T); ok {
				changed(none, current)
			}
		},
		UpdateFunc: func(oldObject, newObject any) {
			old, okOld := oldObject.(T)
			current, okNew := newObject.(T)
			switch {
			case !okOld || !okNew:
			case old.GetUID() != current.GetUID():
				changed(old, none)
				changed(none, current)
			default:
				changed(old, current)
			}
		},
		DeleteFunc: func(object any) {
			if missed, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = missed.Obj
			}
			if old, ok := object.(T); ok {
				changed(old, none)
			}
		},
	}
}

// Attach adds each handler to its informer. It returns functions that tell whether a handler
// has been called for all that its informer held when it was filled.
func Attach(handlers map[cache.SharedIndexInformer]cache.ResourceEventHandler) ([]cache.InformerSynced, error) {
	var synced []cache.InformerSynced
	for informer, handler := range handlers {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("adding an event handler: %w", err)
		}
		synced = append(synced, registration.HasSynced)
	}
	return synced, nil
}
