package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

func TestAFailureToAskIsNotKept(t *testing.T) {
	guard, api := newGuardWith(t)
	api.failing["tokenreviews"], api.failing["subjectaccessreviews"] = true, true
	if got := ask(guard, http.MethodGet, "/metrics", "Bearer good", nil); got != http.StatusUnauthorized {
		t.Errorf("got %d, want 401", got)
	}
	api.failing["tokenreviews"] = false
	if got := ask(guard, http.MethodGet, "/metrics", "Bearer good", nil); got != http.StatusForbidden {
		t.Errorf("got %d, want 403", got)
	}
	api.failing["subjectaccessreviews"] = false
	if got := ask(guard, http.MethodGet, "/metrics", "Bearer good", nil); got != http.StatusOK {
		t.Errorf("got %d, want 200", got)
	}
}

func TestAFailureToAskIsLoggedNowAndThen(t *testing.T) {
	tests := map[string]struct {
		failing string
		gone    bool // who asked did not wait for the answer
		lines   int  // in the log, after a request every second for a minute and a half
	}{
		"the token cannot be asked about":      {failing: "tokenreviews", lines: 2},
		"the permission cannot be asked about": {failing: "subjectaccessreviews", lines: 2},
		"nobody waits for the answer":          {failing: "tokenreviews", gone: true},
		"both are answered":                    {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				guard, api := newGuardWith(t)
				api.failing[test.failing] = true
				logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
				defer cancel()
				if test.gone {
					cancel()
				}
				for range 90 {
					request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil)
					request.Header.Set("Authorization", "Bearer good")
					guard.protect(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), request)
					<-time.After(time.Second)
				}
				log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
				if got := strings.Count(log, "Cannot ask the API server about a user"); got != test.lines {
					t.Errorf("got %d lines, want %d:\n%s", got, test.lines, log)
				}
			})
		})
	}
}
