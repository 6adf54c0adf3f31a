package oracle

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/deployment"
)

// Where one sync of the built-in loop writes the new ReplicaSet twice, the API server
// refuses the second write and the loop begins anew; it never does so more often.
const syncsInOne = 2

// builtinDeployment returns the world after one sync of the built-in Deployment loop, and
// when it was. Creates are refused with the given error, if it is not nil.
//
// It has to run in a bubble of testing/synctest: there "the sync is over" is a fact, that
// every goroutine waits for something, and time stands still until then.
func builtinDeployment(t *testing.T, before *world, refusal error) (*world, time.Time) {
	t.Helper()
	for range syncsInOne {
		server := &server{world: before.clone(), refusal: refusal}
		now := runBuiltin(t, before.objects(), server.react, func(ctx context.Context, c *fake.Clientset, f informers.SharedInformerFactory) func() {
			loop, err := deployment.NewDeploymentController(ctx, f.Apps().V1().Deployments(), f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), c)
			if err != nil {
				t.Fatalf("making the built-in loop: %v", err)
			}
			return func() { loop.Run(ctx, 1) }
		})
		if server.conflicts == 0 {
			return server.world, now
		}
		before = server.world
	}
	t.Fatal("the built-in loop is in conflict with itself for ever")
	return nil, time.Time{}
}

// runBuiltin fills a loop's caches with the objects, lets it sync each of them once, and
// returns when that was. Its writes go to react and never come back to the caches.
func runBuiltin(t *testing.T, objects []runtime.Object, react clienttesting.ReactionFunc, make func(context.Context, *fake.Clientset, informers.SharedInformerFactory) (run func())) time.Time {
	t.Helper()
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
	client := fake.NewClientset(objects...)
	client.PrependReactor("*", "*", react)
	factory := informers.NewSharedInformerFactory(client, 0)
	run := make(ctx, client, factory)
	factory.StartWithContext(ctx)
	// All handlers have been called before the first worker starts, so that no object
	// is queued again while it is synced.
	synctest.Wait()
	var done sync.WaitGroup
	done.Go(run)
	synctest.Wait()
	now := time.Now()
	stop()
	done.Wait()
	factory.Shutdown()
	return now
}

// server stands in for the API server: it takes the writes of one sync.
type server struct {
	mu        sync.Mutex
	world     *world
	refusal   error
	conflicts int
}

func (s *server) react(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch action := action.(type) {
	case clienttesting.CreateActionImpl:
		rs, ok := action.Object.(*appsv1.ReplicaSet)
		if !ok {
			return true, action.Object, nil // an event
		}
		created, err := s.create(rs)
		return true, created, err
	case clienttesting.UpdateActionImpl:
		switch object := action.Object.(type) {
		case *appsv1.ReplicaSet:
			if object.ResourceVersion != s.world.sets[object.Name].ResourceVersion {
				s.conflicts++
				return true, nil, apierrors.NewConflict(action.Resource.GroupResource(), object.Name, nil)
			}
			return true, s.world.put(object), nil
		case *appsv1.Deployment:
			object = object.DeepCopy()
			if action.Subresource == "status" {
				object.Spec = s.world.deployment.Spec
			} else {
				object.Status = s.world.deployment.Status
			}
			return true, s.world.putDeployment(object), nil
		}
	case clienttesting.DeleteActionImpl:
		delete(s.world.sets, action.Name)
		return true, nil, nil
	}
	return false, nil, nil // reads
}

func (s *server) create(rs *appsv1.ReplicaSet) (*appsv1.ReplicaSet, error) {
	switch {
	case s.refusal != nil:
		return nil, s.refusal
	case s.world.sets[rs.Name] != nil:
		return nil, apierrors.NewAlreadyExists(appsv1.Resource("replicasets"), rs.Name)
	}
	return s.world.create(rs, time.Now()), nil
}
