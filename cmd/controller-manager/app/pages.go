package app

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"

	"controller-manager/pkg/metrics"
)

// pages returns everything that is served, without a guard before it.
func pages(options *Options, registry *prometheus.Registry, health health, logger klog.Logger) http.Handler {
	mux := http.NewServeMux()
	health.addTo(mux)
	paths := []string{"/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz"}
	mux.Handle("/metrics", metrics.Handler(registry, standardLog(logger)))
	mux.Handle("/flagz", flagz(options.Flags()))
	mux.Handle("/configz", configz(options.Flags()))
	if options.Profiling {
		paths = append(paths, "/debug/pprof/")
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	mux.Handle("/statusz", statusz(time.Now(), build(), paths))
	return mux
}

// configz lists the settings for programs, written as --config takes them.
func configz(flags *flag.FlagSet) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		settings := map[string]string{}
		flags.VisitAll(func(f *flag.Flag) { settings[f.Name] = f.Value.String() })
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		// A client that has gone away is no concern of ours.
		_ = json.NewEncoder(w).Encode(map[string]any{program: settings})
	})
}
