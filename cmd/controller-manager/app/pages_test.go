package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientgoelection "k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"controller-manager/pkg/leaderelection"
	"controller-manager/pkg/metrics"
)

// read returns the answer of a handler to a GET.
func read(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func TestHealth(t *testing.T) {
	good := func() error { return nil }
	bad := func() error { return errors.New("it is stuck") }
	check := func(name string, ask func() error) []healthCheck { return []healthCheck{{name, ask}} }
	tests := map[string]struct {
		health health
		path   string
		code   int
		body   string
	}{
		"alive":                    {health{alive: check("a", good)}, "/livez", 200, "ok"},
		"alive under the old name": {health{alive: check("a", good)}, "/healthz", 200, "ok"},
		"alive, in detail": {health{alive: check("a", good)}, "/livez?verbose", 200,
			"[+]ping ok\n[+]a ok\nlivez check passed\n"},
		"not alive": {health{alive: check("a", bad), ready: check("r", good)}, "/livez", 500,
			"[+]ping ok\n[-]a failed: it is stuck\nlivez check failed\n"},
		"not alive under the old name": {health{alive: check("a", bad)}, "/healthz", 500,
			"[+]ping ok\n[-]a failed: it is stuck\nhealthz check failed\n"},
		"ready, alive or not": {health{alive: check("a", bad), ready: check("r", good)}, "/readyz", 200, "ok"},
		"not ready": {health{ready: check("r", bad)}, "/readyz?verbose", 500,
			"[+]ping ok\n[-]r failed: it is stuck\nreadyz check failed\n"},
		"a check that is left out": {health{alive: check("a", bad)}, "/livez?verbose&exclude=a", 200,
			"[+]ping ok\n[+]a excluded: ok\nlivez check passed\n"},
		"another one that is left out": {health{alive: check("a", bad)}, "/livez?exclude=b", 500,
			"[+]ping ok\n[-]a failed: it is stuck\nlivez check failed\n"},
		"alive, ready or not": {health{ready: check("r", bad)}, "/livez", 200, "ok"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			test.health.addTo(mux)
			got := read(t, mux, test.path)
			if got.Code != test.code {
				t.Errorf("got code %d, want %d", got.Code, test.code)
			}
			if diff := cmp.Diff(test.body, got.Body.String()); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALeaderWhoseLeaseHasExpiredIsNotAlive(t *testing.T) {
	server := newAPIServer(t)
	clients := newClientsOf(t, server, openFence())
	caches, err := newCaches(clients.main, 0, unseen)
	if err != nil {
		t.Fatal(err)
	}
	watchdog := clientgoelection.NewLeaderHealthzAdaptor(-time.Hour) // a lease counts as expired an hour before its time
	mux := http.NewServeMux()
	newHealth(watchdog, caches).addTo(mux)
	if got := read(t, mux, "/livez"); got.Code != http.StatusOK {
		t.Errorf("before the election: got %d, want 200", got.Code)
	}
	options := mustParse(t)
	err = lead(silent(t), options, clients, leaderelection.NewFence(), watchdog, func(context.Context) error {
		if got := read(t, mux, "/livez"); got.Code != http.StatusInternalServerError {
			t.Errorf("as a leader past its lease: got %d, want 500", got.Code)
		}
		return errNoWork
	})
	if !errors.Is(err, errNoWork) {
		t.Errorf("got error %v, want that of the work", err)
	}
}

var errNoWork = errors.New("there is no work")

func TestPages(t *testing.T) {
	tests := map[string]struct {
		args  []string
		path  string
		code  int
		words []string
	}{
		"metrics are those of the registry":    {nil, "/metrics", 200, []string{"\ncontroller_manager_build_info{", "\ngo_goroutines "}},
		"statusz says which version, and more": {nil, "/statusz", 200, []string{"\nStarted: ", "\nUp: ", "\nBinary version: ", " /metrics "}},
		"flagz lists each flag":                {[]string{"-v=3"}, "/flagz", 200, []string{"\nv=3\n", "\ncontrollers=[*]\n", "\nleader-elect=true\n"}},
		"profiles are there where asked for":   {[]string{"--profiling"}, "/debug/pprof/", 200, []string{"goroutine"}},
		"each of them":                         {[]string{"--profiling"}, "/debug/pprof/goroutine?debug=1", 200, []string{"goroutine profile"}},
		"statusz says so":                      {[]string{"--profiling"}, "/statusz", 200, []string{"/debug/pprof/"}},
		"and otherwise not":                    {nil, "/debug/pprof/", 404, nil},
		"nor is anything else":                 {nil, "/", 404, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := pages(mustParse(t, test.args...), metrics.New(build()), health{}, klog.Background())
			got := read(t, handler, test.path)
			if got.Code != test.code {
				t.Errorf("got code %d, want %d", got.Code, test.code)
			}
			for _, word := range test.words {
				if !strings.Contains(got.Body.String(), word) {
					t.Errorf("no %q in:\n%.2000s", word, got.Body.String())
				}
			}
		})
	}
}

func TestConfigzGivenAsAConfigurationFileMakesTheSameProcess(t *testing.T) {
	want := mustParse(t, "-v=4", "--controllers=*,-replicaset", "--min-resync-period=3h", "--kube-api-qps=0.5", "--leader-elect=false")
	got := read(t, configz(want.Flags()), "/configz")
	var page map[string]map[string]string
	if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	values := page["controller-manager"]
	delete(values, "config") // names the file, and cannot be in it
	delete(values, "version")
	content, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	want.ConfigFile = writeFile(t, "config.yaml", string(content))
	if diff := cmp.Diff(want, mustParse(t, "--config="+want.ConfigFile), settings); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}
