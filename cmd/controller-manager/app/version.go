package app

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"controller-manager/pkg/metrics"
)

// Set by the linker: -ldflags "-X controller-manager/cmd/controller-manager/app.version=v1.2.3
// -X controller-manager/cmd/controller-manager/app.commit=0123abc".
//
//nolint:gochecknoglobals // the linker can set nothing else
var version, commit string

// build says what this binary was built from: what the linker was told, and otherwise
// what the Go command noted in the binary.
func build() metrics.Build {
	b := metrics.Build{Version: version, Commit: commit, GoVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b.Version = cmp.Or(b.Version, info.Main.Version, "unknown")
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			b.Commit = cmp.Or(b.Commit, setting.Value)
		}
	}
	b.Commit = cmp.Or(b.Commit, "unknown")
	return b
}

// versionLine is what --version prints.
func versionLine(b metrics.Build) string {
	return fmt.Sprintf("controller-manager %s (commit %s, %s)", b.Version, b.Commit, b.GoVersion)
}

// userAgent is what the API server's audit log knows this program by. What stands before
// the slash is also its name in managedFields.
func userAgent(b metrics.Build) string {
	return "controller-manager/" + b.Version
}
