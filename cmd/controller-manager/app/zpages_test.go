package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"controller-manager/pkg/metrics"
)

func TestPagesForPeopleAreText(t *testing.T) {
	started := time.Now().Add(-(25*time.Hour + 61*time.Second + time.Millisecond))
	status := statusz(started, metrics.Build{Version: "v1.2.3", Commit: "abc", GoVersion: "go1"}, []string{"/a", "/b"})
	warning := "Warning: this page is for people who look for a fault; its form may change.\n"
	tests := map[string]struct {
		page http.Handler
		want string
	}{
		"statusz": {status, "\ncontroller-manager statusz\n" + warning + "\n" +
			"Started: " + started.UTC().Format(time.UnixDate) + "\nUp: 25 hr 01 min 01 sec\n" +
			"Go version: go1\nBinary version: v1.2.3\nCommit: abc\nPaths: /a /b\n"},
		"flagz": {flagz(mustParse(t, "--secure-port=1").Flags()), "\ncontroller-manager flagz\n" + warning + "\nauthentication-kubeconfig=\n" +
			"authorization-always-allow-paths=[/healthz,/readyz,/livez]\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := read(t, test.page, "/")
			if !strings.HasPrefix(got.Body.String(), test.want) {
				t.Errorf("got\n%s\nwant it to begin with\n%s", got.Body, test.want)
			}
			if format := got.Header().Get("Content-Type"); format != "text/plain; charset=utf-8" {
				t.Errorf("it is %q, want text", format)
			}
		})
	}
}

func TestPagesForProgramsAreObjects(t *testing.T) {
	started := time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)
	tests := map[string]struct {
		page   http.Handler
		accept string
		want   map[string]any
	}{
		"statusz": {
			statusz(started, metrics.Build{Version: "v1.2.3", Commit: "abc", GoVersion: "go1"}, []string{"/a", "/b"}),
			"application/json;as=Statusz;v=v1beta1;g=config.k8s.io",
			map[string]any{
				"kind": "Statusz", "apiVersion": "config.k8s.io/v1beta1", "metadata": map[string]any{"name": "controller-manager"},
				"startTime": "2026-03-04T05:06:07Z", "goVersion": "go1", "binaryVersion": "v1.2.3", "paths": []any{"/a", "/b"},
			},
		},
		"flagz, of the older version": {
			flagz(mustParse(t, "--controllers=deployment", "--controllers=-replicaset").Flags()),
			"application/json; v=v1alpha1; g=config.k8s.io; as=Flagz",
			map[string]any{
				"kind": "Flagz", "apiVersion": "config.k8s.io/v1alpha1", "metadata": map[string]any{"name": "controller-manager"},
				"controllers": "[deployment,-replicaset]", "secure-port": "10267",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := accepting(test.page, test.accept)
			object := map[string]any{}
			if err := json.Unmarshal(got.Body.Bytes(), &object); err != nil {
				t.Fatalf("%s: %v", got.Body, err)
			}
			if seconds, ok := object["uptimeSeconds"].(float64); object["kind"] == "Statusz" && (!ok || seconds < 1) {
				t.Errorf("up for %v, want the seconds since 2026", object["uptimeSeconds"])
			}
			delete(object, "uptimeSeconds")
			if flags, ok := object["flags"].(map[string]any); ok {
				delete(object, "flags")
				object["controllers"], object["secure-port"] = flags["controllers"], flags["secure-port"]
			}
			if diff := cmp.Diff(test.want, object); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

// accepting returns the answer of a handler to a GET that accepts some formats.
func accepting(handler http.Handler, accept string) *httptest.ResponseRecorder {
	request, recorder := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
	request.Header.Set("Accept", accept)
	handler.ServeHTTP(recorder, request)
	return recorder
}

func TestFormatsOfPages(t *testing.T) {
	const object = "application/json;as=Flagz;v=v1beta1;g=config.k8s.io"
	tests := map[string]struct {
		accept string
		code   int
		format string
	}{
		"nothing said":                {"", 200, "text/plain; charset=utf-8"},
		"anything":                    {"*/*", 200, "text/plain; charset=utf-8"},
		"text":                        {"text/plain", 200, "text/plain; charset=utf-8"},
		"any text":                    {"image/png, text/*;q=0.5", 200, "text/plain; charset=utf-8"},
		"the object":                  {object, 200, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz"},
		"the object before text":      {object + ", text/plain", 200, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz"},
		"text before the object":      {"text/plain, " + object, 200, "text/plain; charset=utf-8"},
		"a version that is not there": {strings.Replace(object, "v1beta1", "v2", 1), 406, "text/plain; charset=utf-8"},
		"another object":              {strings.Replace(object, "Flagz", "Statusz", 1), 406, "text/plain; charset=utf-8"},
		"an object of another API":    {strings.Replace(object, "config", "apps", 1), 406, "text/plain; charset=utf-8"},
		"JSON of no kind":             {"application/json", 406, "text/plain; charset=utf-8"},
		"a web page":                  {"text/html", 406, "text/plain; charset=utf-8"},
		"nonsense":                    {"a/b/c;;", 406, "text/plain; charset=utf-8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := accepting(flagz(mustParse(t).Flags()), test.accept)
			if format := got.Header().Get("Content-Type"); got.Code != test.code || format != test.format {
				t.Errorf("got code %d and format %q, want %d and %q", got.Code, format, test.code, test.format)
			}
		})
	}
}
