package app

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	clocktesting "k8s.io/utils/clock/testing"
)

// issuer hands out tokens "token-1", "token-2", ...
type issuer struct {
	stub
	clock    *clocktesting.FakePassiveClock
	issued   int
	missing  bool  // whether the service account is
	failing  error // why no token is given
	lifetime time.Duration
}

const accountPath = "/api/v1/namespaces/kube-system/serviceaccounts"

func newIssuer(t *testing.T) (*issuer, *tokens) {
	t.Helper()
	i := &issuer{
		clock:    clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		lifetime: time.Hour,
	}
	i.answer = func(r *http.Request) (*http.Response, error) {
		switch {
		case i.failing != nil:
			return nil, i.failing
		case r.URL.Path == accountPath:
			account := decode(t, r, &corev1.ServiceAccount{})
			if account.Name != deploymentLoop {
				t.Errorf("service account %q was made, want %q", account.Name, deploymentLoop)
			}
			i.missing = false
			account.TypeMeta = metav1.TypeMeta{Kind: "ServiceAccount", APIVersion: "v1"}
			return reply(http.StatusCreated, account), nil
		case i.missing:
			return refuse(http.StatusNotFound, metav1.StatusReasonNotFound, "not found"), nil
		}
		request := decode(t, r, &authenticationv1.TokenRequest{})
		if got := request.Spec.ExpirationSeconds; got == nil || *got != 3600 {
			t.Errorf("asked for a token for %v seconds, want an hour", got)
		}
		i.issued++
		request.TypeMeta = metav1.TypeMeta{Kind: "TokenRequest", APIVersion: "authentication.k8s.io/v1"}
		request.Status = authenticationv1.TokenRequestStatus{
			Token:               fmt.Sprintf("token-%d", i.issued),
			ExpirationTimestamp: metav1.NewTime(i.clock.Now().Add(i.lifetime)),
		}
		return reply(http.StatusCreated, request), nil
	}
	return i, newTokens(i.client(t).CoreV1(), deploymentLoop, i.clock)
}

func TestTokens(t *testing.T) {
	type step struct {
		after   time.Duration // since the step before
		failing bool          // whether the API server gives no tokens
		want    string        // "": an error
	}
	tests := map[string][]step{
		"one token does for four fifths of its life": {
			{want: "token-1"}, {after: 48*time.Minute - 1, want: "token-1"},
		},
		"it is renewed in time": {
			{want: "token-1"}, {after: 48 * time.Minute, want: "token-2"}, {after: 47 * time.Minute, want: "token-2"},
		},
		"while it cannot be renewed it is used to its end": {
			{want: "token-1"},
			{after: 48 * time.Minute, failing: true, want: "token-1"},
			{after: 12*time.Minute - 1, failing: true, want: "token-1"},
			{after: 1, failing: true, want: ""},
		},
		"a renewal that failed is tried again": {
			{want: "token-1"},
			{after: 48 * time.Minute, failing: true, want: "token-1"},
			{after: tokenRetry - 1, want: "token-1"},
			{after: 1, want: "token-2"},
		},
		"without a first one there is an error, and the next try may work": {
			{failing: true, want: ""}, {want: "token-1"},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			issuer, tokens := newIssuer(t)
			for n, step := range steps {
				issuer.clock.SetTime(issuer.clock.Now().Add(step.after))
				issuer.failing = nil
				if step.failing {
					issuer.failing = errors.New("no route")
				}
				got, err := tokens.get(silent(t))
				if got != step.want || (err == nil) != (step.want != "") {
					t.Errorf("step %d: got %q and error %v, want %q", n, got, err, step.want)
				}
			}
		})
	}
}

func TestAMissingServiceAccountIsMade(t *testing.T) {
	issuer, tokens := newIssuer(t)
	issuer.missing = true
	if token, err := tokens.get(silent(t)); err != nil || token != "token-1" {
		t.Errorf("got %q and error %v, want token-1", token, err)
	}
	tokenPath := "POST " + accountPath + "/" + deploymentLoop + "/token"
	if diff := cmp.Diff([]string{tokenPath, "POST " + accountPath, tokenPath}, issuer.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAMissingServiceAccountThatMayNotBeMadeIsAnError(t *testing.T) {
	issuer, tokens := newIssuer(t)
	issuer.answer = func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == accountPath {
			return refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "no role"), nil
		}
		return refuse(http.StatusNotFound, metav1.StatusReasonNotFound, "not found"), nil
	}
	_, err := tokens.get(silent(t))
	if err == nil || !strings.Contains(err.Error(), "kube-system/"+deploymentLoop) || !strings.Contains(err.Error(), "no role") {
		t.Errorf("got error %v, want one that names the service account and the reason", err)
	}
}

func TestEachRequestCarriesTheTokenAndARefusedOneIsReplaced(t *testing.T) {
	_, tokens := newIssuer(t)
	var sent []string
	api := &stub{answer: func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Header.Get("Authorization"))
		if len(sent) == 2 {
			return refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "expired"), nil
		}
		return refuse(http.StatusNotFound, metav1.StatusReasonNotFound, "not found"), nil
	}}
	for range 4 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.test/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokens.transport(api).RoundTrip(request); err != nil {
			t.Fatal(err)
		}
		if request.Header.Get("Authorization") != "" {
			t.Error("the caller's own request was changed")
		}
	}
	want := []string{"Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2"}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	issuer, tokens := newIssuer(t)
	issuer.failing = errors.New("no route")
	api := &stub{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("reached") }}
	body := &closing{Reader: strings.NewReader("x")}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.test/x", body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.transport(api).RoundTrip(request); !errors.Is(err, issuer.failing) {
		t.Errorf("got error %v, want that of the token", err)
	}
	if len(api.seen()) > 0 || !body.closed {
		t.Errorf("sent %q, body closed: %t", api.seen(), body.closed)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

func TestTheTransportBelowTheTokenIsFound(t *testing.T) {
	_, tokens := newIssuer(t)
	wrapper, ok := tokens.transport(http.DefaultTransport).(utilnet.RoundTripperWrapper)
	if !ok || wrapper.WrappedRoundTripper() != http.DefaultTransport {
		t.Error("client-go cannot find the transport below the token")
	}
}
