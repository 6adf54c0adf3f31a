package app

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// apiServer is as much of an API server as the process needs to run: nothing to do,
// leases, tokens for service accounts, and a record of who asked what.
type apiServer struct {
	*httptest.Server
	t       *testing.T
	closing chan struct{}

	mu          sync.Mutex
	lease       *coordinationv1.Lease
	pod         *corev1.Pod // the only Pod there is, if any
	requests    []string    // "user METHOD /path"
	agents      map[string]bool
	formats     map[string]bool // of requests, "body; answer"
	renewals    []time.Time     // when the lease was written
	connections int
	refuses     func(*http.Request) *metav1.Status
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{t: t, closing: make(chan struct{}), agents: map[string]bool{}, formats: map[string]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.connections++
		}
	}
	s.StartTLS()
	t.Cleanup(func() {
		close(s.closing)
		s.Close()
	})
	return s
}

// kubeconfig writes a kubeconfig by which one is the user "main".
func (s *apiServer) kubeconfig() string {
	s.t.Helper()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return writeFile(s.t, "kubeconfig", fmt.Sprintf(`
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: u, user: {token: main}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, s.URL, writeFile(s.t, "ca.crt", string(authority))))
}

// refuse makes the server answer some requests with an error; nil lets all pass.
func (s *apiServer) refuse(by func(*http.Request) *metav1.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = by
}

// seen returns how often "user METHOD /path" was asked.
func (s *apiServer) seen(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, r := range s.requests {
		if r == request {
			count++
		}
	}
	return count
}

// holder returns who holds the lease; "" for nobody.
func (s *apiServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil || s.lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *s.lease.Spec.HolderIdentity
}

// ServeHTTP answers one request. The token of a request is the name of its user.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.requests = append(s.requests, user+" "+r.Method+" "+r.URL.Path)
	s.agents[r.UserAgent()] = true
	s.formats[r.Header.Get("Content-Type")+"; "+r.Header.Get("Accept")] = true
	refuses := s.refuses
	s.mu.Unlock()
	if refuses != nil {
		if status := refuses(r); status != nil {
			s.write(w, int(status.Code), status)
			return
		}
	}
	w.Header().Add("Warning", `299 - "something is old"`)
	switch {
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case strings.Contains(r.URL.Path, "/leases"):
		s.leases(w, r)
	case strings.HasSuffix(r.URL.Path, "/token"):
		s.write(w, http.StatusCreated, &authenticationv1.TokenRequest{
			TypeMeta: metav1.TypeMeta{Kind: "TokenRequest", APIVersion: "authentication.k8s.io/v1"},
			Status: authenticationv1.TokenRequestStatus{
				Token: "account", ExpirationTimestamp: metav1.NewTime(metav1.Now().AddDate(0, 0, 1)),
			},
		})
	case r.Method == http.MethodGet:
		answer, _ := welcome(r)
		defer answer.Body.Close()
		var object json.RawMessage
		if err := json.NewDecoder(answer.Body).Decode(&object); err != nil {
			s.t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(object)
	default:
		s.write(w, http.StatusCreated, &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}})
	}
}

func (s *apiServer) write(w http.ResponseWriter, code int, object runtime.Object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(object); err != nil {
		s.t.Log(err) // the client may have gone away
	}
}

// watch sends a list, where it is asked for: that of the only Pod, or of nothing. No more
// happens.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		mark := metav1.ObjectMeta{
			ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}
		if s.pod != nil && strings.HasSuffix(r.URL.Path, "/pods") {
			s.send(w, watch.Added, s.pod)
		}
		var object runtime.Object
		switch {
		case strings.HasSuffix(r.URL.Path, "/deployments"):
			object = &appsv1.Deployment{TypeMeta: metav1.TypeMeta{Kind: "Deployment", APIVersion: "apps/v1"}, ObjectMeta: mark}
		case strings.HasSuffix(r.URL.Path, "/replicasets"):
			object = &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{Kind: "ReplicaSet", APIVersion: "apps/v1"}, ObjectMeta: mark}
		default:
			object = &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: mark}
		}
		s.send(w, watch.Bookmark, object)
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		s.t.Log(err)
	}
	select {
	case <-r.Context().Done():
	case <-s.closing:
	}
}

// send sends one event of a watch.
func (s *apiServer) send(w http.ResponseWriter, kind watch.EventType, object runtime.Object) {
	raw, err := json.Marshal(object)
	if err != nil {
		s.t.Error(err)
	}
	event := metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}}
	if err := json.NewEncoder(w).Encode(event); err != nil {
		s.t.Log(err) // the client may have gone away
	}
}

// leases keeps one lease.
func (s *apiServer) leases(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		if s.lease == nil {
			s.write(w, http.StatusNotFound, &metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status:   metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			})
			return
		}
		s.write(w, http.StatusOK, s.lease)
		return
	}
	version := 0
	if s.lease != nil {
		version, _ = strconv.Atoi(s.lease.ResourceVersion)
	}
	lease := decode(s.t, r, &coordinationv1.Lease{})
	if r.Context().Err() != nil {
		return // the client has gone away, and will never know
	}
	s.renewals = append(s.renewals, time.Now())
	s.lease = lease
	s.lease.TypeMeta = metav1.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}
	s.lease.ResourceVersion = strconv.Itoa(version + 1)
	s.write(w, http.StatusOK, s.lease)
}
