package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// stub is an API server without a network: what a client sends goes to a function, and
// its errors may be those of a network.
type stub struct {
	mu       sync.Mutex
	requests []string // "GET /path"
	answer   func(*http.Request) (*http.Response, error)
}

// RoundTrip answers one request.
func (s *stub) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request.Method+" "+request.URL.Path)
	return s.answer(request)
}

// seen returns the requests so far.
func (s *stub) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// client returns a client of the stub.
func (s *stub) client(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfigAndClient(
		&rest.Config{Host: "https://api.test:6443", QPS: -1}, &http.Client{Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// reply is an answer with an object. Its kind has to be set.
func reply(code int, object runtime.Object) *http.Response {
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	recorder.WriteHeader(code)
	recorder.Body = bytes.NewBuffer(body)
	return recorder.Result()
}

// refuse is an answer with an error, as an API server gives it.
func refuse(code int, reason metav1.StatusReason, message string) *http.Response {
	return reply(code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// decode reads the object in a request's body, in whatever format it is. It may be broken if
// the client has gone away meanwhile, because it was told to stop.
func decode[T runtime.Object](t *testing.T, request *http.Request, into T) T {
	t.Helper()
	body, err := io.ReadAll(request.Body)
	if err == nil {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, into)
	}
	if err != nil && request.Context().Err() == nil {
		t.Errorf("reading the body of %s %s: %v", request.Method, request.URL, err)
	}
	return into
}

// isOneLine fails the test unless the text is one line that holds each of the words.
func isOneLine(t *testing.T, text string, words ...string) {
	t.Helper()
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Errorf("got %q, want one line", text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("got %q, want %q in it", text, word)
		}
	}
	if strings.Contains(text, "goroutine ") {
		t.Errorf("got a stack trace: %s", text)
	}
}
