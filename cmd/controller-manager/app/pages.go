package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"
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

// statusz says in a few lines what is running, since when, and where to read on.
func statusz(started time.Time, build metrics.Build, paths []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, fmt.Sprintf("controller-manager statusz\n\n"+
			"Started: %s\nUp: %s\nGo version: %s\nBinary version: %s\nCommit: %s\nPaths: %s\n",
			started.UTC().Format(time.RFC3339), time.Since(started).Round(time.Second),
			build.GoVersion, build.Version, build.Commit, strings.Join(paths, " ")))
	})
}

// flagz lists the value of each flag, one a line.
func flagz(flags *flag.FlagSet) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var text strings.Builder
		text.WriteString("controller-manager flagz\n\n")
		flags.VisitAll(func(f *flag.Flag) { fmt.Fprintf(&text, "%s=%s\n", f.Name, f.Value) })
		writeText(w, text.String())
	})
}

// configz is the same as an object, for programs. Its settings are written as --config
// takes them.
func configz(flags *flag.FlagSet) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		settings := map[string]string{}
		flags.VisitAll(func(f *flag.Flag) { settings[f.Name] = f.Value.String() })
		w.Header().Set("Content-Type", "application/json")
		// A client that has gone away is no concern of ours.
		_ = json.NewEncoder(w).Encode(map[string]any{"controller-manager": settings})
	})
}
