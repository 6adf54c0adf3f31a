package localcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	patchLine = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1","stage":"ResponseComplete",` +
		`"requestURI":"/apis/apps/v1/namespaces/default/deployments/web/status?fieldManager=x","verb":"patch",` +
		`"user":{"username":"controller-manager","groups":["system:authenticated"]},"sourceIPs":["127.0.0.1"],` +
		`"userAgent":"controller-manager/v1","objectRef":{"resource":"deployments","namespace":"default","name":"web",` +
		`"apiGroup":"apps","apiVersion":"v1","subresource":"status"},"responseStatus":{"metadata":{},"code":409},` +
		`"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","stageTimestamp":"2026-01-02T03:04:05.000007Z"}` + "\n"
	healthLine   = `{"stage":"ResponseComplete","requestURI":"/readyz","verb":"get","user":{"username":"system:anonymous"},"responseStatus":{"code":200}}` + "\n"
	receivedLine = `{"stage":"RequestReceived","requestURI":"/api","verb":"get"}` + "\n"
)

func TestAuditEntriesHoldWhatTheLogSays(t *testing.T) {
	want := []AuditEntry{{
		User:        "controller-manager",
		UserAgent:   "controller-manager/v1",
		Verb:        "patch",
		Group:       "apps",
		Resource:    "deployments",
		Subresource: "status",
		Namespace:   "default",
		Name:        "web",
		RequestURI:  "/apis/apps/v1/namespaces/default/deployments/web/status?fieldManager=x",
		Code:        409,
		Received:    time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Completed:   time.Date(2026, 1, 2, 3, 4, 5, 7000, time.UTC),
	}}
	got, err := readAudit(strings.NewReader(patchLine))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries differ (-want +got):\n%s", diff)
	}
}

func TestAuditLinesThatCount(t *testing.T) {
	tests := map[string]struct {
		log  string
		want []string
	}{
		"an empty log has no entry":                   {"", nil},
		"a request without an object has an entry":    {healthLine, []string{"/readyz"}},
		"a request that is not answered yet has none": {receivedLine + healthLine, []string{"/readyz"}},
		"a line that is still being written has none": {healthLine + strings.TrimSuffix(healthLine, "\n"), []string{"/readyz"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			entries, err := readAudit(strings.NewReader(test.log))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, entry := range entries {
				got = append(got, entry.RequestURI)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("requests differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABrokenAuditLineIsAnError(t *testing.T) {
	if _, err := readAudit(strings.NewReader("{\n")); err == nil {
		t.Error("it was passed over")
	}
}

func TestAuditSinceAMarkLeavesOutWhatCameBefore(t *testing.T) {
	log := AuditLog{path: filepath.Join(t.TempDir(), "audit.log")}
	write := func(text string) {
		t.Helper()
		file, err := os.OpenFile(log.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	count := func(mark AuditMark) int {
		t.Helper()
		entries, err := log.Since(mark)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}

	start, err := log.Mark()
	if err != nil {
		t.Fatal(err)
	}
	if got := count(start); got != 0 {
		t.Errorf("a log that does not exist has %d entries", got)
	}
	write(patchLine + healthLine)
	mark, err := log.Mark()
	if err != nil {
		t.Fatal(err)
	}
	write(healthLine)
	if got := count(mark); got != 1 {
		t.Errorf("%d entries since the mark, want 1", got)
	}
	if got := count(start); got != 3 {
		t.Errorf("%d entries since the start, want 3", got)
	}
}

func TestWritesAreTheVerbsThatChangeSomething(t *testing.T) {
	want := map[string]bool{
		"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true,
		"get": false, "list": false, "watch": false, "post": false,
	}
	got := map[string]bool{}
	for verb := range want {
		got[verb] = AuditEntry{Verb: verb}.IsWrite()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verbs differ (-want +got):\n%s", diff)
	}
}
