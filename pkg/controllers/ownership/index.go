package ownership

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// indexName names the index of an informer's cache that finds objects by the
// object that controls them.
const indexName = "controller"

// Indexers returns the index that Owned and Orphans look things up in. It has to be
// added to an informer before that informer starts.
func Indexers() cache.Indexers {
	return cache.Indexers{indexName: func(object any) ([]string, error) {
		meta, ok := object.(metav1.Object)
		if !ok {
			return nil, fmt.Errorf("indexing %T by its controller: it has no metadata", object)
		}
		return []string{indexValue(meta.GetNamespace(), ControllerUID(meta))}, nil
	}}
}

// ControllerUID returns the UID of an object's controller; "" if it has none.
func ControllerUID(object metav1.Object) types.UID {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID
	}
	return ""
}

// Owned returns the cached objects of a namespace whose controller has the given UID. An
// object of another namespace is never found, whatever UID somebody wrote into it:
// owner references do not cross namespaces.
func Owned[T metav1.Object](indexer cache.Indexer, namespace string, owner types.UID) []T {
	return lookup[T](indexer, indexValue(namespace, owner))
}

// Orphans returns the cached objects of a namespace that have no controller.
func Orphans[T metav1.Object](indexer cache.Indexer, namespace string) []T {
	return lookup[T](indexer, indexValue(namespace, ""))
}

func indexValue(namespace string, owner types.UID) string {
	return namespace + "/" + string(owner)
}

func lookup[T metav1.Object](indexer cache.Indexer, value string) []T {
	objects, err := indexer.ByIndex(indexName, value)
	if err != nil {
		// The only error there is: the index was never added, which is a fault
		// in this program's wiring and not something a sync can recover from.
		panic(fmt.Sprintf("looking up objects by controller: %v", err))
	}
	found := make([]T, 0, len(objects))
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}
