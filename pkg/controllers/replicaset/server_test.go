package replicaset

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// server plays the API server for one namespace's worth of Pods and ReplicaSets: it gives out
// UIDs and resourceVersions, checks preconditions, and deletes Pods on a node gracefully.
type server struct {
	mu          sync.Mutex
	version     int64
	pods        map[string]*corev1.Pod // by namespace/name
	replicaSets map[string]*appsv1.ReplicaSet
	watchers    map[string][]*watch.RaceFreeFakeWatcher // by resource

	// requests holds "verb resource name" of all requests but lists and watches of
	// whole resources, in the order in which they came.
	requests []string
	// trouble, if set, is asked about each of those requests.
	trouble func(request) trouble
	// dropsTerminating makes the server drop terminatingReplicas, as old ones do.
	dropsTerminating bool
}

// request is one request.
type request struct {
	verb, resource, name string
	delete               metav1.DeleteOptions
}

func (r request) String() string { return r.verb + " " + r.resource + " " + r.name }

// trouble is what goes wrong with a request: it is answered with the error, after it has been
// carried out all the same if it acts.
type trouble struct {
	err  error
	acts bool
}

func newServer() *server {
	return &server{
		version:     100,
		pods:        map[string]*corev1.Pod{},
		replicaSets: map[string]*appsv1.ReplicaSet{},
		watchers:    map[string][]*watch.RaceFreeFakeWatcher{},
	}
}

func (s *server) clientset() *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("*", "*", s.react)
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		watcher := watch.NewRaceFreeFake()
		resource := action.GetResource().Resource
		s.watchers[resource] = append(s.watchers[resource], watcher)
		return true, watcher, nil
	})
	return client
}

// describe returns the request that an action is, false for a list of a whole resource.
func describe(action clienttesting.Action) (request, bool) {
	r := request{verb: action.GetVerb(), resource: action.GetResource().Resource}
	if action.GetSubresource() != "" {
		r.resource += "/" + action.GetSubresource()
	}
	switch action := action.(type) {
	case clienttesting.ListActionImpl:
		name, named := action.GetListRestrictions().Fields.RequiresExactMatch("metadata.name")
		r.name = name
		return r, named
	case clienttesting.DeleteActionImpl:
		r.name, r.delete = action.Name, action.DeleteOptions
	case clienttesting.CreateActionImpl:
		r.name = action.GetObject().(metav1.Object).GetName()
	case clienttesting.UpdateActionImpl:
		r.name = action.GetObject().(metav1.Object).GetName()
	case clienttesting.GetActionImpl:
		r.name = action.Name
	case clienttesting.PatchActionImpl:
		r.name = action.Name
	}
	return r, true
}

func (s *server) react(action clienttesting.Action) (bool, runtime.Object, error) {
	request, counts := describe(action)
	var trouble trouble
	if counts {
		s.mu.Lock()
		s.requests = append(s.requests, request.String())
		ask := s.trouble
		s.mu.Unlock()
		if ask != nil {
			trouble = ask(request) // outside the lock: it may look at the server, or block
		}
	}
	if trouble.err != nil && !trouble.acts {
		return true, nil, trouble.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	object, err := s.carryOut(request, action)
	if trouble.err != nil {
		return true, nil, trouble.err
	}
	return true, object, err
}

func (s *server) carryOut(r request, action clienttesting.Action) (runtime.Object, error) {
	key := action.GetNamespace() + "/" + r.name
	switch r.verb + " " + r.resource {
	case "create pods":
		return s.createPod(key, action.(clienttesting.CreateActionImpl).GetObject().(*corev1.Pod))
	case "delete pods":
		return nil, s.deletePod(key, r.delete.Preconditions)
	case "patch pods":
		return s.patchPod(key, action.(clienttesting.PatchActionImpl).GetPatch())
	case "list pods":
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(s.version)}}
		for _, pod := range s.pods {
			if r.name == "" || r.name == pod.Name {
				list.Items = append(list.Items, *pod.DeepCopy())
			}
		}
		return list, nil
	case "get replicasets":
		if rs := s.replicaSets[key]; rs != nil {
			return rs.DeepCopy(), nil
		}
		return nil, notFound("replicasets", r.name)
	case "update replicasets/status":
		return s.updateStatus(key, action.(clienttesting.UpdateActionImpl).GetObject().(*appsv1.ReplicaSet))
	case "list replicasets":
		list := &appsv1.ReplicaSetList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(s.version)}}
		for _, rs := range s.replicaSets {
			list.Items = append(list.Items, *rs.DeepCopy())
		}
		return list, nil
	}
	return nil, fmt.Errorf("the loop has no business with %s", r)
}

func (s *server) createPod(key string, sent *corev1.Pod) (runtime.Object, error) {
	if s.pods[key] != nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "pods"}, sent.Name)
	}
	pod := sent.DeepCopy()
	pod.UID = types.UID(fmt.Sprintf("uid-%d", s.version+1))
	pod.CreationTimestamp = metav1.NewTime(testNow.Truncate(time.Second))
	pod.Status.Phase = corev1.PodPending
	return s.storePod(watch.Added, pod), nil
}

func (s *server) deletePod(key string, preconditions *metav1.Preconditions) error {
	pod := s.pods[key]
	if pod == nil {
		return notFound("pods", key)
	}
	if preconditions != nil && (*preconditions.UID != pod.UID || *preconditions.ResourceVersion != pod.ResourceVersion) {
		return conflict("pods", pod.Name)
	}
	pod = pod.DeepCopy()
	if pod.Spec.NodeName != "" {
		now := metav1.NewTime(testNow)
		pod.DeletionTimestamp = &now
		s.storePod(watch.Modified, pod)
		return nil
	}
	s.storePod(watch.Deleted, pod)
	return nil
}

func (s *server) patchPod(key string, patch []byte) (runtime.Object, error) {
	pod := s.pods[key]
	if pod == nil {
		return nil, notFound("pods", key)
	}
	old, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	patched, err := strategicpatch.StrategicMergePatch(old, patch, pod)
	if err != nil {
		return nil, err
	}
	result := &corev1.Pod{}
	if err := json.Unmarshal(patched, result); err != nil {
		return nil, err
	}
	return s.storePod(watch.Modified, result), nil
}

func (s *server) updateStatus(key string, sent *appsv1.ReplicaSet) (runtime.Object, error) {
	rs := s.replicaSets[key]
	if rs == nil {
		return nil, notFound("replicasets", key)
	}
	if rs.ResourceVersion != sent.ResourceVersion {
		return nil, conflict("replicasets", rs.Name)
	}
	rs = rs.DeepCopy()
	rs.Status = *sent.Status.DeepCopy()
	if s.dropsTerminating {
		rs.Status.TerminatingReplicas = nil
	}
	return s.storeReplicaSet(rs), nil
}

func (s *server) storePod(event watch.EventType, pod *corev1.Pod) *corev1.Pod {
	s.version++
	pod.ResourceVersion = fmt.Sprint(s.version)
	key := pod.Namespace + "/" + pod.Name
	if s.pods[key] = pod; event == watch.Deleted {
		delete(s.pods, key)
	}
	s.tell("pods", event, pod)
	return pod.DeepCopy()
}

func (s *server) storeReplicaSet(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	s.version++
	rs.ResourceVersion = fmt.Sprint(s.version)
	s.replicaSets[rs.Namespace+"/"+rs.Name] = rs
	s.tell("replicasets", watch.Modified, rs)
	return rs.DeepCopy()
}

func (s *server) tell(resource string, event watch.EventType, object runtime.Object) {
	for _, watcher := range s.watchers[resource] {
		watcher.Action(event, object.DeepCopyObject())
	}
}

// editPod changes a Pod as somebody else would.
func (s *server) editPod(name string, edit func(*corev1.Pod)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := s.pods["default/"+name].DeepCopy()
	edit(pod)
	s.storePod(watch.Modified, pod)
}

// addPod lets somebody else make a Pod.
func (s *server) addPod(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storePod(watch.Added, pod)
}

// removePod makes a Pod vanish.
func (s *server) removePod(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storePod(watch.Deleted, s.pods["default/"+name].DeepCopy())
}

// editReplicaSet changes a ReplicaSet as its user would.
func (s *server) editReplicaSet(name string, edit func(*appsv1.ReplicaSet)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rs := s.replicaSets["default/"+name].DeepCopy()
	rs.Generation++
	edit(rs)
	s.storeReplicaSet(rs)
}

func notFound(resource, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, name)
}

func conflict(resource, name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: resource}, name, fmt.Errorf("it has changed"))
}
