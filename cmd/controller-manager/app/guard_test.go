package app

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
)

// reviewer is an API server that knows the token "good" of ann, who may get /metrics.
type reviewer struct {
	stub
	t       *testing.T
	failing map[string]bool // by the last part of the path: what cannot be asked
	asked   []authorizationv1.SubjectAccessReviewSpec
}

func newGuardWith(t *testing.T) (*guard, *reviewer) {
	t.Helper()
	r := &reviewer{t: t, failing: map[string]bool{}}
	r.answer = func(request *http.Request) (*http.Response, error) {
		kind := request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:]
		if r.failing[kind] {
			return nil, errors.New("no route")
		}
		if kind == "tokenreviews" {
			review := decode(t, request, &authenticationv1.TokenReview{})
			review.TypeMeta = metav1.TypeMeta{Kind: "TokenReview", APIVersion: "authentication.k8s.io/v1"}
			if review.Status.Authenticated = review.Spec.Token == "good"; review.Status.Authenticated {
				review.Status.User = authenticationv1.UserInfo{
					Username: "ann", UID: "1", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
				}
			}
			return reply(http.StatusCreated, review), nil
		}
		review := decode(t, request, &authorizationv1.SubjectAccessReview{})
		review.TypeMeta = metav1.TypeMeta{Kind: "SubjectAccessReview", APIVersion: "authorization.k8s.io/v1"}
		r.asked = append(r.asked, review.Spec)
		review.Status.Allowed = review.Spec.User == "ann" && review.Spec.NonResourceAttributes.Path == "/metrics"
		return reply(http.StatusCreated, review), nil
	}
	client := r.client(t)
	return &guard{
		openPaths: []string{"/healthz", "/open/*"}, tokens: client, access: client,
		cache: utilcache.NewLRUExpireCache(maxReviews), noAnswer: newNoAnswer(),
		verify: func(shown []*x509.Certificate) error {
			if shown[0].Subject.CommonName == "eve" {
				return errors.New("signed by an authority that is not ours")
			}
			return nil
		},
	}, r
}

// ask sends a request through the guard and returns the code of the answer.
func ask(g *guard, method, path, authorization string, state *tls.ConnectionState) int {
	request := httptest.NewRequest(method, path, nil)
	request.Header.Set("Authorization", authorization)
	request.TLS = state
	recorder := httptest.NewRecorder()
	g.protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })).
		ServeHTTP(recorder, request)
	return recorder.Code
}

// shown is a connection on which a client has shown a certificate. That of eve is not good.
func shown(name string) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{
		{Subject: pkix.Name{CommonName: name, Organization: []string{"team"}}}}}
}

func TestGuard(t *testing.T) {
	tests := map[string]struct {
		method, path, authorization string
		state                       *tls.ConnectionState
		failing                     string
		want                        int
	}{
		"an open path needs nothing":                          {path: "/healthz", want: 200},
		"an open path with a star opens all below":            {path: "/open/door", want: 200},
		"a path that only begins like an open one is closed":  {path: "/healthz/x", want: 401},
		"nobody gets in":                                      {path: "/metrics", want: 401},
		"a password gets nobody in":                           {path: "/metrics", authorization: "Basic Z29vZDo=", want: 401},
		"an empty token gets nobody in":                       {path: "/metrics", authorization: "Bearer ", want: 401},
		"an unknown token gets nobody in":                     {path: "/metrics", authorization: "Bearer bad", want: 401},
		"a known user gets to what she may read":              {path: "/metrics", authorization: "Bearer good", want: 200},
		"and not to what she may not":                         {path: "/configz", authorization: "Bearer good", want: 403},
		"a client certificate says who its owner is":          {path: "/metrics", state: shown("ann"), want: 200},
		"the owner of a certificate needs permission too":     {path: "/metrics", state: shown("bob"), want: 403},
		"a certificate that names groups only is nobody's":    {path: "/metrics", state: shown(""), want: 401},
		"a certificate that is not good is nobody's":          {path: "/metrics", state: shown("eve"), want: 401},
		"a token is good beside such a certificate too":       {path: "/metrics", authorization: "Bearer good", state: shown("eve"), want: 200},
		"a connection without a certificate is nobody's":      {path: "/metrics", state: &tls.ConnectionState{}, want: 401},
		"a token that cannot be checked gets nobody in":       {path: "/metrics", authorization: "Bearer good", failing: "tokenreviews", want: 401},
		"a permission that cannot be checked is not there":    {path: "/metrics", authorization: "Bearer good", failing: "subjectaccessreviews", want: 403},
		"not even for the owner of a certificate":             {path: "/metrics", state: shown("ann"), failing: "subjectaccessreviews", want: 403},
		"an open path stays open when nothing can be checked": {path: "/healthz", failing: "tokenreviews", want: 200},
		"nothing can be deleted":                              {method: http.MethodDelete, path: "/healthz", want: 405},
		"a path that is none of ours is closed too":           {path: "/", want: 401},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			guard, api := newGuardWith(t)
			api.failing[test.failing] = true
			method := test.method
			if method == "" {
				method = http.MethodGet
			}
			if got := ask(guard, method, test.path, test.authorization, test.state); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestAnswersAreNotToBeKeptByWhoIsInBetween(t *testing.T) {
	guard, _ := newGuardWith(t)
	handler := guard.protect(http.NotFoundHandler())
	for _, path := range []string{"/healthz", "/metrics"} {
		if got := read(t, handler, path).Header().Get("Cache-Control"); got != "no-cache, private" {
			t.Errorf("%s may be kept: %q", path, got)
		}
	}
}

func TestTheAPIServerIsToldEverythingAboutWhoAsks(t *testing.T) {
	guard, api := newGuardWith(t)
	ask(guard, http.MethodGet, "/metrics", "Bearer good", nil)
	ask(guard, http.MethodPost, "/debug/pprof/symbol", "", shown("bob"))
	want := []authorizationv1.SubjectAccessReviewSpec{
		{
			User: "ann", UID: "1", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
		},
		{
			User: "bob", Groups: []string{"team", "system:authenticated"},
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/debug/pprof/symbol", Verb: "post"},
		},
	}
	if diff := cmp.Diff(want, api.asked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestAnswersAreGoodForTenSeconds(t *testing.T) {
	tests := map[string]struct {
		authorization string
		path          string
		questions     int // of one request
	}{
		"yes":                         {"Bearer good", "/metrics", 2},
		"no, unknown":                 {"Bearer bad", "/metrics", 1},
		"no, known but not permitted": {"Bearer good", "/configz", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				guard, api := newGuardWith(t)
				first := ask(guard, http.MethodGet, test.path, test.authorization, nil)
				<-time.After(reviewLifetime - time.Second)
				if again := ask(guard, http.MethodGet, test.path, test.authorization, nil); again != first {
					t.Errorf("got %d and then %d", first, again)
				}
				if got := len(api.seen()); got != test.questions {
					t.Errorf("asked %d questions in the first 9 s, want %d", got, test.questions)
				}
				<-time.After(2 * time.Second)
				ask(guard, http.MethodGet, test.path, test.authorization, nil)
				if got := len(api.seen()); got != 2*test.questions {
					t.Errorf("asked %d questions after 11 s, want %d", got, 2*test.questions)
				}
			})
		})
	}
}

func TestWhoKnocksMakesUsAskOnlySoOften(t *testing.T) {
	options := mustParse(t, "--master=https://127.0.0.1:1")
	config, err := mainConfig(options)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := newGuard(options, config)
	if err != nil {
		t.Fatal(err)
	}
	for what, client := range map[string]kubernetes.Interface{"tokens": guard.tokens, "permissions": guard.access} {
		limiter := client.CoreV1().RESTClient().GetRateLimiter()
		if limiter == nil || limiter.QPS() != reviewsPerSecond {
			t.Errorf("the limit of questions about %s is %v, want %d a second", what, limiter, reviewsPerSecond)
		}
	}
}

func TestReviewsGoWhereTheKubeconfigsSay(t *testing.T) {
	main, authentication, authorization := newAPIServer(t), newAPIServer(t), newAPIServer(t)
	tests := map[string]struct {
		args           []string
		tokens, access *apiServer
	}{
		"the main connection by default": {nil, main, main},
		"--authentication-kubeconfig":    {[]string{"--authentication-kubeconfig=" + authentication.kubeconfig()}, authentication, main},
		"--authorization-kubeconfig":     {[]string{"--authorization-kubeconfig=" + authorization.kubeconfig()}, main, authorization},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			options := mustParse(t, append(test.args, "--kubeconfig="+main.kubeconfig())...)
			config, err := mainConfig(options)
			if err != nil {
				t.Fatal(err)
			}
			guard, err := newGuard(options, config)
			if err != nil {
				t.Fatal(err)
			}
			guard.verify = func([]*x509.Certificate) error { return nil }
			const token, access = "main POST /apis/authentication.k8s.io/v1/tokenreviews", "main POST /apis/authorization.k8s.io/v1/subjectaccessreviews"
			before := [2]int{test.tokens.seen(token), test.access.seen(access)}
			ask(guard, http.MethodGet, "/metrics", "Bearer x", nil)
			ask(guard, http.MethodGet, "/metrics", "", shown("ann"))
			if got := test.tokens.seen(token); got != before[0]+1 {
				t.Errorf("got %d questions about tokens, want %d", got, before[0]+1)
			}
			if got := test.access.seen(access); got != before[1]+1 {
				t.Errorf("got %d questions about permissions, want %d", got, before[1]+1)
			}
		})
	}
	for _, name := range []string{"--authentication-kubeconfig", "--authorization-kubeconfig"} {
		t.Run(name+" that is not there", func(t *testing.T) {
			options := mustParse(t, name+"=/does/not/exist", "--kubeconfig="+main.kubeconfig())
			config, err := mainConfig(options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := newGuard(options, config); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got error %v, want one that names the flag", err)
			}
		})
	}
}
