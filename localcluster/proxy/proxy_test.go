package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// between is a proxy in front of a server, and the server's requests.
type between struct {
	*Proxy
	t      *testing.T
	server *httptest.Server
	client *http.Client
	asked  atomic.Int32 // requests that the server has seen
}

// start puts a proxy in front of a handler. It speaks HTTP/2 on both sides, as with a
// real API server.
func start(t *testing.T, answer http.HandlerFunc) *between {
	t.Helper()
	b := &between{t: t}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked.Add(1)
		answer(w, r)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	certificate := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificatePEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	b.Proxy, err = Start(Config{Certificate: certificate, Target: &rest.Config{
		Host: server.URL,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: certificatePEM, CertData: certificatePEM,
			KeyData: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
	b.server, b.client = server, server.Client()
	return b
}

// send makes a request and reads the whole answer, or returns "broken".
func (b *between) send(method, path string) string {
	b.t.Helper()
	response, err := b.do(method, path, "")
	if err != nil {
		return "broken"
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "broken"
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

func (b *between) do(method, path, token string) (*http.Response, error) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.URL+path, strings.NewReader("body"))
	if err != nil {
		b.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return b.client.Do(request)
}

func ok(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.RequestURI(), body)
}

const pods = "/api/v1/namespaces/shop/pods"

func TestWithoutRulesEverythingPasses(t *testing.T) {
	b := start(t, ok)
	if got, want := b.send("POST", pods+"?dryRun=All"), "200 POST "+pods+"?dryRun=All body"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestWhichRequestsARuleIsAbout(t *testing.T) {
	tests := map[string]struct {
		match        Match
		method, path string
		want         bool
	}{
		"all":                      {Match{}, "GET", "/healthz", true},
		"a verb":                   {Match{Verb: "create"}, "POST", pods, true},
		"another verb":             {Match{Verb: "create"}, "PUT", pods + "/a", false},
		"a watch is no list":       {Match{Verb: "list"}, "GET", "/api/v1/pods?watch=true", false},
		"a watch":                  {Match{Verb: "watch", Resource: "pods"}, "GET", "/api/v1/pods?watch=true&sendInitialEvents=true", true},
		"a resource of a group":    {Match{Resource: "replicasets"}, "GET", "/apis/apps/v1/namespaces/shop/replicasets/a", true},
		"a subresource":            {Match{Resource: "pods/status"}, "PATCH", pods + "/a/status", true},
		"no subresource":           {Match{Resource: "pods"}, "PATCH", pods + "/a/status", false},
		"a namespace":              {Match{Namespace: "shop"}, "GET", pods, true},
		"another namespace":        {Match{Namespace: "bar"}, "GET", pods, false},
		"a namespace and all":      {Match{Namespace: "shop"}, "GET", "/api/v1/pods", false},
		"a name":                   {Match{Name: "a"}, "GET", pods + "/a", true},
		"another name":             {Match{Name: "b"}, "GET", pods + "/a", false},
		"a collection has no name": {Match{Verb: "deletecollection", Name: "a"}, "DELETE", pods, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := start(t, ok)
			rule := b.Add(Rule{Match: test.match, Action: Delay(0)})
			b.send(test.method, test.path)
			if got := rule.Hits() == 1; got != test.want {
				t.Errorf("the rule acted: %t, want %t", got, test.want)
			}
		})
	}
}

func TestARuleActsOnSoManyRequestsAfterSoMany(t *testing.T) {
	b := start(t, ok)
	rule := b.Add(Rule{Skip: 1, Times: 2, Action: Drop()})
	var got []bool
	for range 5 {
		got = append(got, b.send("GET", pods) == "broken")
	}
	if diff := cmp.Diff([]bool{false, true, true, false, false}, got); diff != "" || rule.Hits() != 2 {
		t.Errorf("%d hits, broken (-want +got):\n%s", rule.Hits(), diff)
	}
}

func TestARequestMeetsAllRulesThatAreAboutIt(t *testing.T) {
	b := start(t, ok)
	first, second := b.Add(Rule{Action: Delay(0)}), b.Add(Rule{Action: Drop()})
	if got := b.send("GET", pods); got != "broken" || first.Hits() != 1 || second.Hits() != 1 {
		t.Errorf("answer %q, %d and %d hits, want broken, 1 and 1", got, first.Hits(), second.Hits())
	}
}

func TestConnectionsThatAreCutAreMadeAgain(t *testing.T) {
	waiting := make(chan struct{})
	b := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			close(waiting)
			<-r.Context().Done()
		}
	})
	events := make(chan string)
	go b.watch(events, nil)
	<-waiting
	b.CutConnections()
	if got := <-events; got != "broken" {
		t.Errorf("the watch ended with %q, want it broken", got)
	}
	if got := b.send("GET", pods); got != "200 " {
		t.Errorf("the next request was answered %q, want 200", got)
	}
}

func TestWhoseRequestsAreSentOn(t *testing.T) {
	b := start(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d %s", len(r.TLS.PeerCertificates), r.Header.Get("Authorization"))
	})
	for token, want := range map[string]string{"": "1 ", "secret": "0 Bearer secret"} {
		response, err := b.do("GET", pods, token)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("with the token %q the server sees certificates and token %q, %v, want %q", token, got, err, want)
		}
	}
}

func TestAServerThatIsNotThereIsABrokenConnection(t *testing.T) {
	b := start(t, ok)
	b.server.Close()
	if got := b.send("GET", pods); got != "broken" {
		t.Errorf("got %q, want a broken connection", got)
	}
}

func TestAnAddressThatIsNone(t *testing.T) {
	if _, err := Start(Config{Target: &rest.Config{Host: "https://bad host"}}); err == nil {
		t.Error("a proxy was started in front of nothing")
	}
}
