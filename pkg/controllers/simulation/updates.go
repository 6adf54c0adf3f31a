package simulation

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The updates that the two loops make. As on an API server, an update of the spec leaves the
// status alone and the other way round, one that changes nothing makes no new version, and
// the generation rises with the spec only.

func (s *server) updateDeployment(by *writer, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	old, err := current(&s.deployments, d.Name, only(d.UID, d.ResourceVersion))
	if err != nil {
		return nil, err
	}
	updated := shallow(d)
	updated.Status = old.Status
	updated.Generation = old.Generation
	if !apiequality.Semantic.DeepEqual(old.Spec, d.Spec) {
		updated.Generation++
	}
	return put(s, &s.deployments, by, old, updated), nil
}

func (s *server) updateDeploymentStatus(by *writer, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	old, err := current(&s.deployments, d.Name, only(d.UID, d.ResourceVersion))
	if err != nil {
		return nil, err
	}
	if maps.Equal(old.Annotations, d.Annotations) && apiequality.Semantic.DeepEqual(old.Status, d.Status) {
		return old, by.wastes()
	}
	updated := shallow(old)
	updated.Annotations, updated.Status = d.Annotations, d.Status
	return put(s, &s.deployments, by, old, updated), nil
}

func (s *server) updateReplicaSetStatus(by *writer, rs *appsv1.ReplicaSet) (*appsv1.ReplicaSet, error) {
	old, err := current(&s.replicaSets, rs.Name, only(rs.UID, rs.ResourceVersion))
	if err != nil {
		return nil, err
	}
	if apiequality.Semantic.DeepEqual(old.Status, rs.Status) {
		return old, by.wastes()
	}
	updated := shallow(old)
	updated.Status = rs.Status
	return put(s, &s.replicaSets, by, old, updated), nil
}

// patchReplicaSet is the merge patch by which the Deployment loop resizes and annotates.
func (s *server) patchReplicaSet(by *writer, name string, data []byte) (*appsv1.ReplicaSet, error) {
	var patch struct {
		Metadata struct {
			UID             types.UID         `json:"uid"`
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			Replicas        *int32 `json:"replicas"`
			MinReadySeconds *int32 `json:"minReadySeconds"`
		} `json:"spec"`
	}
	decode(data, &patch)
	old, err := current(&s.replicaSets, name, only(patch.Metadata.UID, patch.Metadata.ResourceVersion))
	if err != nil {
		return nil, err
	}
	updated := shallow(old)
	updated.Annotations = merged(old.Annotations, patch.Metadata.Annotations)
	if patch.Spec.Replicas != nil {
		updated.Spec.Replicas = patch.Spec.Replicas
	}
	if patch.Spec.MinReadySeconds != nil {
		updated.Spec.MinReadySeconds = *patch.Spec.MinReadySeconds
	}
	if size(updated) != size(old) || updated.Spec.MinReadySeconds != old.Spec.MinReadySeconds {
		updated.Generation++
	} else if maps.Equal(old.Annotations, updated.Annotations) {
		return old, by.wastes()
	}
	return put(s, &s.replicaSets, by, old, updated), nil
}

func merged(base, over map[string]string) map[string]string {
	all := make(map[string]string, len(base)+len(over))
	maps.Copy(all, base)
	maps.Copy(all, over)
	return all
}

// size is how many Pods a ReplicaSet should have.
func size(rs *appsv1.ReplicaSet) int32 { return *rs.Spec.Replicas }

// controllerOf returns the UID of an object's controller; "" if it has none.
func controllerOf(o metav1.Object) types.UID {
	if controller := metav1.GetControllerOfNoCopy(o); controller != nil {
		return controller.UID
	}
	return ""
}
