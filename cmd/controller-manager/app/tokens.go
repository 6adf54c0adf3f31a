package app

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

const (
	// tokenNamespace holds the service accounts of the control loops.
	tokenNamespace = "kube-system"
	// tokenLifetime is asked for. The API server may choose another one.
	tokenLifetime = time.Hour
	// tokenTimeout bounds one request for a token, in which all writes of the loop wait.
	tokenTimeout = 10 * time.Second
	// tokenRetry is the pause after a renewal that failed, while the old token is good.
	tokenRetry = 10 * time.Second
)

// tokens keeps a token of a control loop's service account, by which the loop writes.
// The built-in roles system:controller:deployment-controller and
// system:controller:replicaset-controller are bound to these service accounts.
type tokens struct {
	client  corev1client.ServiceAccountsGetter
	account string
	clock   clock.PassiveClock

	mu      sync.Mutex
	token   string
	renewAt time.Time
	expires time.Time
}

func newTokens(client corev1client.ServiceAccountsGetter, account string, clock clock.PassiveClock) *tokens {
	return &tokens{client: client, account: account, clock: clock}
}

// get returns a token that is good now. It is renewed after four fifths of its life.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	good := t.token != "" && now.Before(t.expires)
	if good && now.Before(t.renewAt) {
		return t.token, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	answer, err := t.request(ctx)
	switch {
	case err == nil:
		t.token, t.expires = answer.Status.Token, answer.Status.ExpirationTimestamp.Time
		t.renewAt = now.Add(t.expires.Sub(now) * 4 / 5)
	case good:
		klog.FromContext(ctx).Error(err, "Cannot renew the token of a service account, will retry", "expires", t.expires)
		t.renewAt = now.Add(tokenRetry)
	default:
		return "", fmt.Errorf("getting a token for service account %s/%s: %w", tokenNamespace, t.account, err)
	}
	return t.token, nil
}

// request asks for a token, and for the service account first if there is none: in a
// cluster where the built-in loop never ran, nobody has made it.
func (t *tokens) request(ctx context.Context) (*authenticationv1.TokenRequest, error) {
	accounts := t.client.ServiceAccounts(tokenNamespace)
	wanted := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLifetime.Seconds()))},
	}
	answer, err := accounts.CreateToken(ctx, t.account, wanted, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) {
		return answer, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: tokenNamespace, Name: t.account}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("creating it: %w", err)
	}
	return accounts.CreateToken(ctx, t.account, wanted, metav1.CreateOptions{})
}

// refused forgets a token that the API server does not take, unless there is a newer one.
func (t *tokens) refused(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// transport wraps a client's transport: each request carries the token.
func (t *tokens) transport(next http.RoundTripper) http.RoundTripper {
	return &tokenTransport{tokens: t, next: next}
}

type tokenTransport struct {
	tokens *tokens
	next   http.RoundTripper
}

// RoundTrip sends the request with a token.
func (t *tokenTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := t.tokens.get(request.Context())
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // a RoundTripper must, and what it returns does not matter here
		}
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := t.next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		t.tokens.refused(token)
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the connection's own transport.
func (t *tokenTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
