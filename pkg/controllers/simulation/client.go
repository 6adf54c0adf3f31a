package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

// client is the client of one loop. It has the requests that the loops make; a call of
// another one panics.
type client struct {
	kubernetes.Interface
	conn *connection
}

// AppsV1 gives access to Deployments and ReplicaSets.
func (c client) AppsV1() appsclient.AppsV1Interface { return appsClient{conn: c.conn} }

// CoreV1 gives access to Pods.
func (c client) CoreV1() coreclient.CoreV1Interface { return coreClient{conn: c.conn} }

type appsClient struct {
	appsclient.AppsV1Interface
	conn *connection
}

func (c appsClient) Deployments(string) appsclient.DeploymentInterface {
	return deploymentClient{conn: c.conn}
}

func (c appsClient) ReplicaSets(string) appsclient.ReplicaSetInterface {
	return replicaSetClient{conn: c.conn}
}

type coreClient struct {
	coreclient.CoreV1Interface
	conn *connection
}

func (c coreClient) Pods(string) coreclient.PodInterface { return podClient{conn: c.conn} }

// send makes a request that returns an object.
func send[T object](c *connection, verb, name string, do func(s *server, by *writer) (T, error)) (T, error) {
	var result, none T
	s := c.sync
	by, reads := &s.writer, verb == "get"
	if reads && !s.wrote && s.isDeployment() {
		// What that loop asks before it writes it asks before it looks at its caches.
		defer func() { c.world.check.look(s) }()
	}
	s.wrote = s.wrote || !reads
	err := c.request(verb+" "+name, !reads, func() (err error) {
		result, err = do(c.world.server, by)
		return err
	})
	if err != nil {
		return none, err
	}
	if reads && name == s.key.Name {
		s.live = result
	}
	return result, nil
}

type deploymentClient struct {
	appsclient.DeploymentInterface
	conn *connection
}

func (c deploymentClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*appsv1.Deployment, error) {
	return send(c.conn, "get", name, func(s *server, _ *writer) (*appsv1.Deployment, error) {
		return current(&s.deployments, name, metav1.Preconditions{})
	})
}

func (c deploymentClient) Update(_ context.Context, d *appsv1.Deployment, _ metav1.UpdateOptions) (*appsv1.Deployment, error) {
	return send(c.conn, "update", d.Name, func(s *server, by *writer) (*appsv1.Deployment, error) {
		return s.updateDeployment(by, d)
	})
}

func (c deploymentClient) UpdateStatus(_ context.Context, d *appsv1.Deployment, _ metav1.UpdateOptions) (*appsv1.Deployment, error) {
	return send(c.conn, "update the status of", d.Name, func(s *server, by *writer) (*appsv1.Deployment, error) {
		return s.updateDeploymentStatus(by, d)
	})
}

type replicaSetClient struct {
	appsclient.ReplicaSetInterface
	conn *connection
}

func (c replicaSetClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*appsv1.ReplicaSet, error) {
	return send(c.conn, "get", name, func(s *server, _ *writer) (*appsv1.ReplicaSet, error) {
		return current(&s.replicaSets, name, metav1.Preconditions{})
	})
}

func (c replicaSetClient) Create(_ context.Context, rs *appsv1.ReplicaSet, options metav1.CreateOptions) (*appsv1.ReplicaSet, error) {
	if len(options.DryRun) > 0 {
		return send(c.conn, "try to create", rs.Name, func(s *server, _ *writer) (*appsv1.ReplicaSet, error) { return s.try(rs) })
	}
	return send(c.conn, "create", rs.Name, func(s *server, by *writer) (*appsv1.ReplicaSet, error) {
		return create(s, &s.replicaSets, by, s.admitted(rs))
	})
}

func (c replicaSetClient) UpdateStatus(_ context.Context, rs *appsv1.ReplicaSet, _ metav1.UpdateOptions) (*appsv1.ReplicaSet, error) {
	return send(c.conn, "update the status of", rs.Name, func(s *server, by *writer) (*appsv1.ReplicaSet, error) {
		return s.updateReplicaSetStatus(by, rs)
	})
}

func (c replicaSetClient) Delete(_ context.Context, name string, options metav1.DeleteOptions) error {
	_, err := send(c.conn, "delete", name, func(s *server, by *writer) (*appsv1.ReplicaSet, error) {
		return nil, remove(s, &s.replicaSets, by, name, *options.Preconditions, metav1.DeletePropagationBackground)
	})
	return err
}

func (c replicaSetClient) Patch(_ context.Context, name string, kind types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*appsv1.ReplicaSet, error) {
	return send(c.conn, "patch", name, func(s *server, by *writer) (*appsv1.ReplicaSet, error) {
		if kind == types.StrategicMergePatchType {
			return patchOwners(s, &s.replicaSets, by, name, data)
		}
		return s.patchReplicaSet(by, name, data)
	})
}

type podClient struct {
	coreclient.PodInterface
	conn *connection
}

func (c podClient) Create(_ context.Context, pod *corev1.Pod, _ metav1.CreateOptions) (*corev1.Pod, error) {
	return send(c.conn, "create", pod.Name, func(s *server, by *writer) (*corev1.Pod, error) {
		created, err := create(s, &s.pods, by, shallow(pod))
		c.conn.world.check.asked(by.sync, pod, created, err)
		return created, err
	})
}

func (c podClient) Delete(_ context.Context, name string, options metav1.DeleteOptions) error {
	c.conn.world.check.tried[*options.Preconditions.UID]++
	_, err := send(c.conn, "delete", name, func(s *server, by *writer) (*corev1.Pod, error) {
		return nil, remove(s, &s.pods, by, name, *options.Preconditions, "")
	})
	return err
}

func (c podClient) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*corev1.Pod, error) {
	return send(c.conn, "patch", name, func(s *server, by *writer) (*corev1.Pod, error) {
		return patchOwners(s, &s.pods, by, name, data)
	})
}

// List finds the one Pod that the field selector names.
func (c podClient) List(_ context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
	name, _ := strings.CutPrefix(options.FieldSelector, metav1.ObjectNameField+"=")
	pod, err := send(c.conn, "get", name, func(s *server, _ *writer) (*corev1.Pod, error) { return s.pods.get(name), nil })
	list := &corev1.PodList{}
	if pod != nil {
		list.Items = append(list.Items, *pod)
	}
	return list, err
}

// decode reads a patch, and fails for a field that the world would ignore.
func decode(data []byte, into any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		panic(fmt.Sprintf("decoding patch %s: %v; teach the simulation what it means", data, err))
	}
}

// patchOwners is the strategic merge patch by which objects are adopted and released.
func patchOwners[T object](s *server, t *table[T], by *writer, name string, data []byte) (T, error) {
	var none T
	var patch struct {
		Metadata struct {
			UID             types.UID `json:"uid"`
			OwnerReferences []struct {
				metav1.OwnerReference
				Patch string `json:"$patch"`
			} `json:"ownerReferences"`
		} `json:"metadata"`
	}
	decode(data, &patch)
	o, err := current(t, name, only(patch.Metadata.UID, ""))
	if err != nil {
		return none, err
	}
	owners := slices.Clone(o.GetOwnerReferences())
	for _, reference := range patch.Metadata.OwnerReferences {
		owners = slices.DeleteFunc(owners, func(r metav1.OwnerReference) bool { return r.UID == reference.UID })
		if reference.Patch != "delete" {
			owners = append(owners, reference.OwnerReference)
		}
	}
	if controllers(owners) > 1 {
		return none, apierrors.NewInvalid(schema.GroupKind{Kind: t.resource}, name, nil)
	}
	patched := shallow(o)
	patched.SetOwnerReferences(owners)
	return put(s, t, by, o, patched), nil
}

func controllers(owners []metav1.OwnerReference) int {
	count := 0
	for _, owner := range owners {
		if owner.Controller != nil && *owner.Controller {
			count++
		}
	}
	return count
}
