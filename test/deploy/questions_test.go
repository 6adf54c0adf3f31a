package deploy

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// questions hears every question "may they?" that arises in the API server, as an authorizer
// that has no opinion on any. Those that admission asks are in no audit log.
type questions struct {
	server *httptest.Server
	config string // file of how the API server finds it

	mu    sync.Mutex
	asked []authorizationv1.SubjectAccessReviewSpec
}

func listen() (*questions, error) {
	q := &questions{}
	q.server = httptest.NewServer(http.HandlerFunc(q.answer))
	const name = "questions"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: q.server.URL}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	dir, err := os.MkdirTemp("", "deploy-")
	if err != nil {
		return nil, err
	}
	q.config = filepath.Join(dir, "authorizer.kubeconfig")
	if err := clientcmd.WriteToFile(*config, q.config); err != nil {
		return nil, errors.Join(err, q.close())
	}
	return q, nil
}

func (q *questions) close() error {
	q.server.Close()
	return os.RemoveAll(filepath.Dir(q.config))
}

func (q *questions) answer(w http.ResponseWriter, r *http.Request) {
	var review authorizationv1.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q.mu.Lock()
	q.asked = append(q.asked, review.Spec)
	q.mu.Unlock()
	review.Status = authorizationv1.SubjectAccessReviewStatus{Reason: "no opinion"}
	_ = json.NewEncoder(w).Encode(review)
}

// all are the questions until now.
func (q *questions) all() []authorizationv1.SubjectAccessReviewSpec {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.asked)
}
