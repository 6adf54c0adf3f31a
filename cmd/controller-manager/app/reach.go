package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

const (
	// sayAgain is how often it is said that the API server is still not there.
	sayAgain = 30 * time.Second
	// refusedFor is how long an answer of "who are you?" or "you may not" is not yet
	// final. An API server that has just started gives it for a few seconds.
	refusedFor = 10 * time.Second
)

// awaitAPIServer returns once the API server answers and lets us read what the loops
// need. A server that is not there is waited for, since a static pod may start before it.
// An answer that waiting does not change is an error.
func awaitAPIServer(ctx context.Context, client kubernetes.Interface, address string) error {
	logger := klog.FromContext(ctx)
	pause := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Steps: 8, Cap: 5 * time.Second, Jitter: 0.1}
	var said, refusedSince time.Time
	for {
		err := readOnce(ctx, client)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now := time.Now()
		switch {
		case isFinal(err):
			return fmt.Errorf("asking the API server at %s: %w", address, err)
		case !isRefusal(err):
			refusedSince = time.Time{}
		case refusedSince.IsZero():
			refusedSince = now
		case now.Sub(refusedSince) >= refusedFor:
			return fmt.Errorf("asking the API server at %s: %w", address, err)
		}
		if now.Sub(said) >= sayAgain {
			said = now
			logger.Info("Waiting for the API server", "address", address, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.Step()):
		}
	}
}

// readOnce reads one object of each resource that the loops watch.
func readOnce(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	one := metav1.ListOptions{Limit: 1}
	if _, err := client.AppsV1().Deployments(corev1.NamespaceAll).List(ctx, one); err != nil {
		return advise("Deployments", err)
	}
	if _, err := client.AppsV1().ReplicaSets(corev1.NamespaceAll).List(ctx, one); err != nil {
		return advise("ReplicaSets", err)
	}
	if _, err := client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, one); err != nil {
		return advise("Pods", err)
	}
	return nil
}

// advise says what could not be read and, where the error does not say it, what to do.
func advise(what string, err error) error {
	var untrusted *tls.CertificateVerificationError
	var alert tls.AlertError
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("listing %s: %w; grant the permission, for example with kubectl apply -f deploy/rbac", what, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("listing %s: %w; the credentials in the kubeconfig are not (or no longer) valid there", what, err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("listing %s: %w; the certificate authority in the kubeconfig must be that of the API server", what, err)
	case errors.As(err, &alert):
		return fmt.Errorf("listing %s: %w; the API server does not take the client certificate in the kubeconfig", what, err)
	}
	return fmt.Errorf("listing %s: %w", what, err)
}

// isFinal reports whether an error stays, however long one waits: certificates that do not
// match, or an answer that no API server gives.
func isFinal(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &untrusted) || errors.As(err, &alert) ||
		apierrors.IsNotFound(err) || apierrors.IsBadRequest(err)
}

// isRefusal reports whether the API server does not know us or does not let us.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}
