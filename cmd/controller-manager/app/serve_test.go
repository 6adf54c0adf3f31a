package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"controller-manager/pkg/metrics"
)

// serve runs the HTTPS port with the given flags and returns its address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	options := mustParse(t, append(args, "--secure-port="+freePort(t))...)
	server, err := newServer(options, &rest.Config{Host: "https://127.0.0.1:1"}, metrics.New(build()), health{}, klog.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.run(context.Background()))
	return "https://" + server.listener.Addr().String()
}

// freePort returns a port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// get returns the code of an answer, and its body.
func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestWithoutFilesItServesWithACertificateOfItsOwn(t *testing.T) {
	address := serve(t)
	var seen *x509.Certificate
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			seen = state.PeerCertificates[0]
			return nil
		},
	}}}
	if code, body := get(t, client, address+"/healthz"); code != http.StatusOK || body != "ok" {
		t.Errorf("got %d and %q, want 200 and ok", code, body)
	}
	if err := seen.VerifyHostname("127.0.0.1"); err != nil {
		t.Error(err)
	}
	if code, _ := get(t, client, address+"/metrics"); code != http.StatusUnauthorized {
		t.Errorf("metrics for nobody: got %d, want 401", code)
	}
}

func TestOnlyHealthIsOpenToEverybody(t *testing.T) {
	address := serve(t, "--profiling")
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/livez": http.StatusOK, "/readyz": http.StatusOK,
		"/metrics": http.StatusUnauthorized, "/statusz": http.StatusUnauthorized, "/flagz": http.StatusUnauthorized,
		"/configz": http.StatusUnauthorized, "/debug/pprof/": http.StatusUnauthorized, "/debug/pprof/heap": http.StatusUnauthorized,
		"/healthz/": http.StatusUnauthorized, "/": http.StatusUnauthorized,
	} {
		if code, _ := get(t, insecure(), address+path); code != want {
			t.Errorf("%s for nobody: got %d, want %d", path, code, want)
		}
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	address := serve(t)
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(address, "https://"),
			&tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
		if err == nil {
			conn.Close()
		}
		if got := err == nil; got != want {
			t.Errorf("%s is accepted: %t, want %t", tls.VersionName(version), got, want)
		}
	}
}

func TestACertificateFileIsServedAndReadAgainWhenItChanges(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	certificate, key := first.sign("server")
	certFile, keyFile := writeFile(t, "tls.crt", string(certificate)), writeFile(t, "tls.key", string(key))
	address := serve(t, "--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile)

	replace := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	get(t, first.client(""), address+"/healthz")
	certificate, key = second.sign("server")
	replace(certFile, certificate)
	get(t, first.client(""), address+"/healthz") // the key does not fit yet: the old pair stays
	replace(keyFile, key)
	get(t, second.client(""), address+"/healthz")
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	get(t, second.client(""), address+"/healthz")
}

func TestClientCertificates(t *testing.T) {
	server, clients, strangers := newAuthority(t), newAuthority(t), newAuthority(t)
	certificate, key := server.sign("server")
	caFile := writeFile(t, "client-ca.crt", string(clients.pem()))
	address := serve(t, "--tls-cert-file="+writeFile(t, "tls.crt", string(certificate)),
		"--tls-private-key-file="+writeFile(t, "tls.key", string(key)), "--client-ca-file="+caFile)
	with := func(a *authority, name string) *http.Client {
		client, trusting := a.client(name), server.client("")
		client.Transport.(*http.Transport).TLSClientConfig.RootCAs = trusting.Transport.(*http.Transport).TLSClientConfig.RootCAs
		return client
	}

	if code, _ := get(t, server.client(""), address+"/healthz"); code != http.StatusOK {
		t.Errorf("health without a certificate: got %d, want 200", code)
	}
	// Known, and then the API server cannot be asked for the permission.
	if code, _ := get(t, with(clients, "ann"), address+"/metrics"); code != http.StatusForbidden {
		t.Errorf("with a certificate of the authority: got %d, want 403", code)
	}
	stranger := with(strangers, "ann")
	if code, body := get(t, stranger, address+"/metrics"); code != http.StatusUnauthorized || !strings.Contains(body, "client certificate") {
		t.Errorf("with a certificate of another authority: got %d %q, want 401 and why", code, body)
	}
	if code, _ := get(t, stranger, address+"/healthz"); code != http.StatusOK {
		t.Errorf("health with a certificate of another authority: got %d, want 200", code)
	}
	kept := with(clients, "ann")
	kept.Transport.(*http.Transport).DisableKeepAlives = false
	t.Cleanup(kept.CloseIdleConnections)
	if code, _ := get(t, kept, address+"/metrics"); code != http.StatusForbidden {
		t.Errorf("on a connection that is kept: got %d, want 403", code)
	}
	if err := os.WriteFile(caFile, strangers.pem(), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, body := get(t, kept, address+"/metrics"); code != http.StatusUnauthorized {
		t.Errorf("on the same connection after the authority was changed: got %d, want 401: %s", code, body)
	}
	if code, _ := get(t, with(strangers, "ann"), address+"/metrics"); code != http.StatusForbidden {
		t.Errorf("after the authority was changed: got %d, want 403", code)
	}
}

func TestWhatCannotBeServedIsSaidAtTheStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := strconv.Itoa(busy.Addr().(*net.TCPAddr).Port)
	text := writeFile(t, "text", "hello")
	tests := map[string]struct {
		args  []string
		words []string
	}{
		"a port in use":                           {[]string{"--secure-port=" + port}, []string{port, "--secure-port", "in use"}},
		"a certificate that is not there":         {[]string{"--tls-cert-file=/no/cert", "--tls-private-key-file=/no/key"}, []string{"--tls-cert-file", "/no/cert"}},
		"a certificate that is none":              {[]string{"--tls-cert-file=" + text, "--tls-private-key-file=" + text}, []string{"--tls-cert-file", text}},
		"an authority that is not there":          {[]string{"--client-ca-file=/no/ca"}, []string{"--client-ca-file", "/no/ca"}},
		"an authority that is none":               {[]string{"--client-ca-file=" + text}, []string{"--client-ca-file", text, "no certificate"}},
		"a kubeconfig for tokens that is missing": {[]string{"--authentication-kubeconfig=/no/kubeconfig"}, []string{"/no/kubeconfig"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newServer(mustParse(t, test.args...), &rest.Config{}, metrics.New(build()), health{}, klog.New(nil))
			if err == nil {
				t.Fatal("got no error")
			}
			isOneLine(t, oneLine(err)+"\n", test.words...)
		})
	}
}

func TestRequestsHaveLimits(t *testing.T) {
	address := serve(t)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Large", strings.Repeat("x", 2*maxHeaderBytes))
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("large headers: got %d, want 431", response.StatusCode)
	}

	address = serve(t, "--profiling", "--authorization-always-allow-paths=/debug/*")
	response, err = client.Post(address+"/debug/pprof/symbol", "text/plain", strings.NewReader(strings.Repeat("0x1+", maxBodyBytes)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "too large") {
		t.Errorf("large body: got %.200q and error %v, want it refused", body, err)
	}

	server, err := newServer(mustParse(t, "--secure-port="+freePort(t)), &rest.Config{}, metrics.New(build()), health{}, klog.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer server.listener.Close()
	h := server.http
	for name, limit := range map[string]time.Duration{
		"header": h.ReadHeaderTimeout, "read": h.ReadTimeout, "write": h.WriteTimeout, "idle": h.IdleTimeout,
	} {
		if limit <= 0 || limit > 2*time.Minute {
			t.Errorf("the %s timeout is %s", name, limit)
		}
	}
}

func TestNothingIsServedWithoutAPort(t *testing.T) {
	server, err := newServer(mustParse(t, "--secure-port=0"), &rest.Config{}, metrics.New(build()), health{}, klog.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	if server.listener != nil {
		t.Error("it took a port")
	}
	server.run(t.Context())()
}

func TestWhatTheServerSaysIsForTheDetailedLog(t *testing.T) {
	var out bytes.Buffer
	for level, want := range map[string]bool{"2": false, "4": true} {
		out.Reset()
		options := mustParse(t, "--logging-format=json", "-v="+level)
		if err := setUpLogging(options, &out); err != nil {
			t.Fatal(err)
		}
		standardLog(klog.Background()).Print("a handshake failed")
		if got := strings.Contains(out.String(), `"message":"a handshake failed"`); got != want {
			t.Errorf("logged with -v=%s: %t, want %t", level, got, want)
		}
	}
}

// insecure is a client that believes every server.
func insecure() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
