package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// welcome is the answer of an API server that has nothing and lets us read it.
func welcome(r *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/deployments"):
		return reply(http.StatusOK, &appsv1.DeploymentList{
			TypeMeta: metav1.TypeMeta{Kind: "DeploymentList", APIVersion: "apps/v1"}}), nil
	case strings.HasSuffix(r.URL.Path, "/replicasets"):
		return reply(http.StatusOK, &appsv1.ReplicaSetList{
			TypeMeta: metav1.TypeMeta{Kind: "ReplicaSetList", APIVersion: "apps/v1"}}), nil
	}
	return reply(http.StatusOK, &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}), nil
}

func TestAwaitAPIServer(t *testing.T) {
	fail := func(err error) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	status := func(code int, reason metav1.StatusReason) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) { return refuse(code, reason, "because"), nil }
	}
	forbiddenPods := func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			return refuse(http.StatusForbidden, metav1.StatusReasonForbidden, `User "x" cannot list resource "pods"`), nil
		}
		return welcome(r)
	}
	bubbleBegins := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when time begins in a synctest bubble
	tests := map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		heals  time.Duration // when the API server begins to answer well; 0: never
		words  []string      // of the error; none: no error
		within time.Duration // when it must have returned
		lines  int           // of the log
	}{
		"an API server that lets us read is enough": {
			answer: welcome,
		},
		"one that is not there yet is waited for, and it is said": {
			answer: fail(syscall.ECONNREFUSED), heals: 2 * time.Minute, within: 2*time.Minute + 6*time.Second, lines: 4,
		},
		"one that is not ready yet is waited for": {
			answer: status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable),
			heals:  time.Minute, within: time.Minute + 6*time.Second, lines: 2,
		},
		"one with another certificate authority is an error at once": {
			answer: fail(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}),
			words:  []string{"listing Deployments", "unknown authority", "certificate authority in the kubeconfig", "api.test"},
		},
		"one that does not take our certificate is an error at once": {
			answer: fail(tls.AlertError(42)),
			words:  []string{"client certificate in the kubeconfig"},
		},
		"something that is no API server is an error at once": {
			answer: status(http.StatusNotFound, metav1.StatusReasonNotFound),
			words:  []string{"listing Deployments"},
		},
		"a missing permission is said at once, and is an error when it stays missing": {
			answer: forbiddenPods, within: 15 * time.Second, lines: 1,
			words: []string{"listing Pods", `cannot list resource "pods"`, "deploy/rbac"},
		},
		"a permission may come late, from an API server that has just started": {
			answer: forbiddenPods, heals: 5 * time.Second, within: 10 * time.Second, lines: 1,
		},
		"one that goes away between two short refusals may have started anew": {
			answer: func(r *http.Request) (*http.Response, error) {
				switch since := time.Since(bubbleBegins); {
				case since < 8*time.Second, since > 20*time.Second:
					return forbiddenPods(r)
				}
				return nil, syscall.ECONNREFUSED
			},
			heals: 28 * time.Second, within: 34 * time.Second, lines: 1,
		},
		"credentials that are not valid are said at once, and are an error": {
			answer: status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized), within: 15 * time.Second, lines: 1,
			words: []string{"credentials in the kubeconfig"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				api := &stub{answer: func(r *http.Request) (*http.Response, error) {
					if test.heals > 0 && time.Since(begun) >= test.heals {
						return welcome(r)
					}
					return test.answer(r)
				}}
				logger, log := bufferedLogger(t)
				err := awaitAPIServer(klog.NewContext(t.Context(), logger), api.client(t), "https://api.test:6443")
				if (err != nil) != (test.words != nil) {
					t.Fatalf("got error %v, want one with %q", err, test.words)
				}
				if err != nil {
					isOneLine(t, oneLine(err)+"\n", test.words...)
				}
				if took := time.Since(begun); took < test.heals || took > test.within {
					t.Errorf("returned after %s, want within %s", took, test.within)
				}
				if lines := len(log.Data()); lines != test.lines {
					t.Errorf("got %d lines in the log, want %d:\n%s", lines, test.lines, log.String())
				}
			})
		})
	}
}

func TestWaitingForTheAPIServerEndsWhenToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		api := &stub{answer: func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }}
		time.AfterFunc(3*time.Second, stop)
		err := awaitAPIServer(klog.NewContext(ctx, klog.New(nil)), api.client(t), "https://api.test:6443")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want that of the context", err)
		}
		if unlessStopped(ctx, err) != nil {
			t.Error("the process would end with an error")
		}
	})
}

// bufferedLogger returns a logger for level 2 and the lines it was given.
func bufferedLogger(t *testing.T) (klog.Logger, ktesting.Buffer) {
	t.Helper()
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(2)))
	sink, ok := logger.GetSink().(ktesting.Underlier)
	if !ok {
		t.Fatal("the test logger keeps no lines")
	}
	return logger, sink.GetBuffer()
}

// silent returns a context whose log goes nowhere.
func silent(t *testing.T) context.Context {
	t.Helper()
	return klog.NewContext(t.Context(), klog.New(nil))
}
