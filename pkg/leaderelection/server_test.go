package leaderelection

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"
)

// server is an API server with room for one lease, and refuses updates that are not
// based on what it holds. Its requests can be made to fail.
type server struct {
	coordinationv1client.LeaseInterface // nil: other requests are not expected

	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
	events  *watch.Broadcaster
	failure error
	failing []string // verbs
	before  func()   // called once, before the next watch begins
}

func newServer(t *testing.T, lease *coordinationv1.Lease) *server {
	t.Helper()
	s := &server{lease: lease, events: watch.NewBroadcaster(100, watch.WaitIfChannelFull)}
	t.Cleanup(s.events.Shutdown)
	return s
}

// Leases returns the one client there is.
func (s *server) Leases(string) coordinationv1client.LeaseInterface { return s }

// fail makes requests with one of the verbs fail from now on.
func (s *server) fail(err error, verbs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure, s.failing = err, verbs
}

// beforeWatch has something happen before the next watch begins.
func (s *server) beforeWatch(happens func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = happens
}

// state returns the lease as it is on the server.
func (s *server) state() *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.DeepCopy()
}

// holder returns who holds the lease.
func (s *server) holder() string {
	return ptr.Deref(s.state().Spec.HolderIdentity, "")
}

// steal gives the lease to somebody, past every protocol.
func (s *server) steal(thief string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease := s.lease.DeepCopy()
	lease.Spec.HolderIdentity = &thief
	s.store(lease, watch.Modified)
}

func (s *server) store(lease *coordinationv1.Lease, event watch.EventType) *coordinationv1.Lease {
	s.version++
	s.lease = lease.DeepCopy()
	s.lease.ResourceVersion = strconv.Itoa(s.version)
	if err := s.events.Action(event, s.lease.DeepCopy()); err != nil {
		panic(err)
	}
	return s.lease.DeepCopy()
}

func (s *server) refuse(verb string) error {
	if slices.Contains(s.failing, verb) {
		return s.failure
	}
	return nil
}

func (s *server) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse("get"); err != nil {
		return nil, err
	}
	if s.lease == nil {
		return nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), name)
	}
	return s.lease.DeepCopy(), nil
}

func (s *server) Create(_ context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse("create"); err != nil {
		return nil, err
	}
	if s.lease != nil {
		return nil, apierrors.NewAlreadyExists(coordinationv1.Resource("leases"), lease.Name)
	}
	return s.store(lease, watch.Added), nil
}

func (s *server) Update(_ context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse("update"); err != nil {
		return nil, err
	}
	if lease.ResourceVersion != s.lease.ResourceVersion {
		return nil, apierrors.NewConflict(coordinationv1.Resource("leases"), lease.Name, nil)
	}
	return s.store(lease, watch.Modified), nil
}

func (s *server) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	before := s.before
	s.before = nil
	s.mu.Unlock()
	if before != nil {
		before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse("watch"); err != nil {
		return nil, err
	}
	var now []watch.Event
	if s.lease != nil {
		now = append(now, watch.Event{Type: watch.Added, Object: s.lease.DeepCopy()})
	}
	return s.events.WatchWithPrefix(now)
}
