package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	clientgoelection "k8s.io/client-go/tools/leaderelection"
)

// health is what the process says about itself.
type health struct {
	alive []healthCheck // a process that fails one of these should be restarted
	ready []healthCheck // one that fails one of these cannot take over yet
}

// newHealth returns the health of a process that takes part in the election and keeps the
// caches: it is dead when it still leads after its lease has expired, and ready when
// the caches are filled, whether it leads or stands by.
func newHealth(watchdog *clientgoelection.HealthzAdaptor, caches *caches) health {
	return health{
		alive: []healthCheck{{"leaderElection", func() error { return watchdog.Check(nil) }}},
		ready: []healthCheck{{"caches", caches.check}},
	}
}

// healthCheck is a named question whose answer is nil or what is wrong.
type healthCheck struct {
	name string
	ask  func() error
}

// addTo serves the checks: /livez and its old name /healthz whether the process is alive,
// /readyz whether it is ready.
func (h health) addTo(mux *http.ServeMux) {
	ping := healthCheck{"ping", func() error { return nil }}
	alive := append([]healthCheck{ping}, h.alive...)
	mux.Handle("/livez", healthHandler("livez", alive))
	mux.Handle("/healthz", healthHandler("healthz", alive))
	mux.Handle("/readyz", healthHandler("readyz", append([]healthCheck{ping}, h.ready...)))
}

// healthHandler answers "ok", or 500 and the list of checks with what is wrong. With
// ?verbose it always answers with the list; a check named by ?exclude= is not asked. The
// format is that of the health endpoints of Kubernetes.
func healthHandler(name string, checks []healthCheck) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var report strings.Builder
		failed := false
		for _, check := range checks {
			if slices.Contains(r.URL.Query()["exclude"], check.name) {
				fmt.Fprintf(&report, "[+]%s excluded: ok\n", check.name)
				continue
			}
			if err := check.ask(); err != nil {
				failed = true
				fmt.Fprintf(&report, "[-]%s failed: %v\n", check.name, err)
				continue
			}
			fmt.Fprintf(&report, "[+]%s ok\n", check.name)
		}
		_, verbose := r.URL.Query()["verbose"]
		switch {
		case failed:
			http.Error(w, report.String()+name+" check failed", http.StatusInternalServerError)
		case verbose:
			writeText(w, report.String()+name+" check passed\n")
		default:
			writeText(w, "ok")
		}
	})
}

// writeText answers with a text. A client that has gone away is no concern of ours.
func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text))
}
