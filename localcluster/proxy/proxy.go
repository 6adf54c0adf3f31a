package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Config is what a proxy stands between.
type Config struct {
	// Target is the API server, and the user as whom requests are sent on that carry
	// no bearer token.
	Target *rest.Config
	// Certificate is what the proxy shows to clients. It must be good for 127.0.0.1.
	Certificate tls.Certificate
}

// Proxy is a running proxy. Its methods may be called from any goroutine.
type Proxy struct {
	// URL is where it serves, on a port of 127.0.0.1.
	URL string

	server *http.Server
	onward http.Handler

	mu    sync.Mutex
	rules []*Handle
	open  map[net.Conn]struct{} // the connections of clients
}

// Start starts a proxy, which runs until Stop.
func Start(config Config) (*Proxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config.Target)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	user, err := rest.TransportFor(config.Target)
	if err != nil {
		return nil, fmt.Errorf("making the connection to the API server: %w", err)
	}
	nobody, err := rest.TransportFor(rest.AnonymousClientConfig(config.Target))
	if err != nil {
		return nil, fmt.Errorf("making the connection to the API server: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the proxy's port: %w", err)
	}
	silent := log.New(io.Discard, "", 0) // what breaks here breaks on purpose
	p := &Proxy{URL: "https://" + listener.Addr().String(), open: map[net.Conn]struct{}{}}
	p.onward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     identity{user: user, nobody: nobody},
		FlushInterval: -1, // a watch must not wait for its next event
		ErrorLog:      silent,
		// Where the API server cannot be reached, the client sees what it would see
		// without a proxy: a connection that breaks.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = &http.Server{ //nolint:gosec // it is used by tests, who may take their time to ask
		Handler:   http.HandlerFunc(p.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{config.Certificate}, MinVersion: tls.VersionTLS12},
		ErrorLog:  silent,
		ConnState: p.note,
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // it ends with Stop, and the error says just that
	return p, nil
}

// Stop breaks all connections off and ends the proxy.
func (p *Proxy) Stop() error {
	if err := p.server.Close(); err != nil {
		return fmt.Errorf("stopping the proxy: %w", err)
	}
	return nil
}

// CutConnections breaks all connections off that clients have. New ones are welcome.
func (p *Proxy) CutConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.open {
		_ = connection.Close() // it may be closed already
	}
}

// note keeps the list of open connections.
func (p *Proxy) note(connection net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.open[connection] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(p.open, connection)
	}
}

// Add puts a rule in force for all requests that begin from now on. A request that
// several rules are about meets all of them, in the order in which they were added.
func (p *Proxy) Add(rule Rule) *Handle {
	p.mu.Lock()
	defer p.mu.Unlock()
	added := &Handle{proxy: p, rule: rule}
	p.rules = append(p.rules, added)
	return added
}

// Handle is a rule that is in force.
type Handle struct {
	proxy *Proxy
	rule  Rule
	seen  int // requests that match
	hits  int // those among them that the rule acted on
}

// Hits is how many requests the rule has acted on.
func (h *Handle) Hits() int {
	h.proxy.mu.Lock()
	defer h.proxy.mu.Unlock()
	return h.hits
}

// Remove ends the rule for all requests that begin from now on.
func (h *Handle) Remove() {
	h.proxy.mu.Lock()
	defer h.proxy.mu.Unlock()
	h.proxy.rules = slices.DeleteFunc(h.proxy.rules, func(other *Handle) bool { return other == h })
}

// serve sends a request on as the rules have it.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	resolver := apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	asked, err := resolver.NewRequestInfo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	handler := p.onward
	for _, action := range slices.Backward(p.actions(asked)) {
		handler = action(handler)
	}
	handler.ServeHTTP(w, r)
}

// actions are what the rules do to a request.
func (p *Proxy) actions(asked *apirequest.RequestInfo) []Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	var actions []Action
	for _, h := range p.rules {
		if !h.rule.Match.matches(asked) {
			continue
		}
		h.seen++
		if h.seen > h.rule.Skip && (h.rule.Times == 0 || h.hits < h.rule.Times) {
			h.hits++
			actions = append(actions, h.rule.Action)
		}
	}
	return actions
}

// identity sends a request as the user, or as nobody but the bearer of its own token.
type identity struct{ user, nobody http.RoundTripper }

// RoundTrip sends one request.
func (i identity) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") != "" {
		return i.nobody.RoundTrip(r)
	}
	return i.user.RoundTrip(r)
}

// detached is a request that goes on when its client has gone.
func detached(r *http.Request) *http.Request {
	return r.WithContext(context.WithoutCancel(r.Context()))
}
