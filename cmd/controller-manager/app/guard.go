package app

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

const (
	// reviewLifetime is how long an answer of the API server about a user is good.
	reviewLifetime = 10 * time.Second
	// maxReviews bounds how many answers are kept.
	maxReviews = 256
	// reviewTimeout bounds the wait for one answer.
	reviewTimeout = 10 * time.Second
	// reviewsPerSecond and reviewBurst bound how much those who knock can make us ask.
	reviewsPerSecond = 10
	reviewBurst      = 20
	// noAnswerEvery is the shortest time between two log lines about questions without an answer.
	noAnswerEvery = time.Minute
)

// guard lets requests through whose sender is known and may read the path. The API server
// decides on both: TokenReview says who has a bearer token, SubjectAccessReview who may
// read a path (a ClusterRole with nonResourceURLs). A client certificate of --client-ca-file
// says who its owner is, too. If the API server cannot be asked, nobody gets in.
type guard struct {
	openPaths []string
	tokens    kubernetes.Interface
	access    kubernetes.Interface
	cache     *utilcache.LRUExpireCache
	// verify says whether a client certificate is good: with each request, since connections
	// live long. nil: none is.
	verify   func(shown []*x509.Certificate) error
	noAnswer flowcontrol.PassiveRateLimiter
}

// user is who sent a request.
type user authenticationv1.UserInfo

func newGuard(options *Options, config *rest.Config) (*guard, error) {
	tokens, err := reviewClient(options.AuthenticationKubeconfig, config)
	if err != nil {
		return nil, fmt.Errorf("--authentication-kubeconfig: %w", err)
	}
	access, err := reviewClient(options.AuthorizationKubeconfig, config)
	if err != nil {
		return nil, fmt.Errorf("--authorization-kubeconfig: %w", err)
	}
	return &guard{
		openPaths: options.AlwaysAllowPaths,
		tokens:    tokens,
		access:    access,
		cache:     utilcache.NewLRUExpireCache(maxReviews),
		noAnswer:  newNoAnswer(),
	}, nil
}

func newNoAnswer() flowcontrol.PassiveRateLimiter {
	return flowcontrol.NewTokenBucketPassiveRateLimiter(float32(1/noAnswerEvery.Seconds()), 1)
}

// unanswered returns the error of a question to the API server that got no answer. It is
// logged too, now and then: who is turned away is mostly not who can mend it.
func (g *guard) unanswered(r *http.Request, about string, err error) error {
	gone := r.Context().Err() != nil // who asked did not wait
	if !gone && g.noAnswer.TryAccept() {
		klog.FromContext(r.Context()).Error(err, "Cannot ask the API server about a user, nobody gets in meanwhile", "about", about)
	}
	return fmt.Errorf("asking the API server about the %s: %w", about, err)
}

// reviewClient returns a client by a kubeconfig of its own or, without one, by the main one.
func reviewClient(kubeconfig string, main *rest.Config) (*kubernetes.Clientset, error) {
	config := rest.CopyConfig(main)
	if kubeconfig != "" {
		own, err := readKubeconfig(kubeconfig, "")
		if err != nil {
			return nil, err
		}
		own.ContentConfig, own.UserAgent = main.ContentConfig, main.UserAgent
		config = own
	}
	config.QPS, config.Burst, config.Timeout = reviewsPerSecond, reviewBurst, reviewTimeout
	return connect(config, dial)
}

// protect puts the guard before a handler.
func (g *guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache, private") // another moment, or another user, has another answer
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
			http.Error(w, "only GET, HEAD and POST are served", http.StatusMethodNotAllowed)
			return
		}
		if g.isOpen(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		user, err := g.authenticate(r)
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "401 unauthorized: "+err.Error(), http.StatusUnauthorized)
			return
		}
		if err := g.authorize(r, user); err != nil {
			http.Error(w, "403 forbidden: "+err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOpen reports whether everybody may read the path.
func (g *guard) isOpen(path string) bool {
	for _, open := range g.openPaths {
		prefix, isPrefix := strings.CutSuffix(open, "*")
		if path == open || isPrefix && strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// authenticate returns who sent the request. A client certificate that is not good is no worse
// than none: clients show what they have.
func (g *guard) authenticate(r *http.Request) (user, error) {
	nobody := errors.New("send a bearer token or a client certificate")
	if g.verify != nil && r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		err := g.verify(r.TLS.PeerCertificates)
		if err == nil {
			return named(r.TLS.PeerCertificates[0])
		}
		nobody = fmt.Errorf("checking the client certificate: %w", err)
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		return user{}, nobody
	}
	return g.authenticateToken(r, token)
}

// named returns the user whom a client certificate names.
func named(certificate *x509.Certificate) (user, error) {
	subject := certificate.Subject
	if subject.CommonName == "" { // groups alone are nobody, as for the API server
		return user{}, errors.New("the client certificate names no user: its subject has no common name (CN)")
	}
	return user{Username: subject.CommonName, Groups: append(subject.Organization, "system:authenticated")}, nil
}

// authenticateToken returns who has a bearer token.
func (g *guard) authenticateToken(r *http.Request, token string) (user, error) {
	key := sha256.Sum256([]byte(token)) // tokens are not kept
	if known, ok := g.cache.Get(key); ok {
		return known.(tokenAnswer).user, known.(tokenAnswer).err
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
	defer cancel()
	review, err := g.tokens.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return user{}, g.unanswered(r, "token", err)
	}
	answer := tokenAnswer{user: user(review.Status.User)}
	if !review.Status.Authenticated {
		answer.err = errors.New("the API server does not know the token")
	}
	g.cache.Add(key, answer, reviewLifetime)
	return answer.user, answer.err
}

// tokenAnswer is what the API server said about a token.
type tokenAnswer struct {
	user user
	err  error
}

// authorize returns nil if the user may read the path.
func (g *guard) authorize(r *http.Request, user user) error {
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{
			Path: r.URL.Path, Verb: strings.ToLower(r.Method),
		},
	}
	if len(user.Extra) > 0 {
		spec.Extra = map[string]authorizationv1.ExtraValue{}
		for name, values := range user.Extra {
			spec.Extra[name] = authorizationv1.ExtraValue(values)
		}
	}
	encoded, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encoding the question about the permission: %w", err)
	}
	key := string(encoded)
	if known, ok := g.cache.Get(key); ok {
		err, _ := known.(error)
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
	defer cancel()
	review, err := g.access.AuthorizationV1().SubjectAccessReviews().Create(ctx,
		&authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return g.unanswered(r, "permission", err)
	}
	var refusal error
	if !review.Status.Allowed {
		refusal = fmt.Errorf("user %q may not %s %s; a ClusterRole with nonResourceURLs would allow it",
			user.Username, spec.NonResourceAttributes.Verb, spec.NonResourceAttributes.Path)
	}
	g.cache.Add(key, refusal, reviewLifetime)
	return refusal
}
