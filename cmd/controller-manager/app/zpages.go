package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/pkg/metrics"
)

// program is how the pages call this process.
const program = "controller-manager"

// pageGroup and pageVersions say in which API the pages are objects too. Source: the
// answers of kube-controller-manager 1.37.
const pageGroup = "config.k8s.io"

func pageVersions() []string { return []string{"v1beta1", "v1alpha1"} }

// zpage is /statusz or /flagz. People get lines of text. A program gets an object, if it
// asks for one as it asks the components of Kubernetes:
//
//	Accept: application/json;as=Statusz;v=v1beta1;g=config.k8s.io
type zpage struct {
	kind   string // "Statusz", "Flagz"
	lines  func() string
	object func(metav1.TypeMeta, metav1.ObjectMeta) any
}

// ServeHTTP answers in the first of the accepted formats that there is.
func (p zpage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for accepted := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		format, parameters, err := mime.ParseMediaType(accepted)
		switch {
		case accepted == "" || err == nil && (format == "*/*" || format == "text/*" || format == "text/plain"):
			writeText(w, fmt.Sprintf("\n%s %s\nWarning: this page is for people who look for a fault; its form may change.\n\n%s",
				program, strings.ToLower(p.kind), p.lines()))
			return
		case err == nil && format == "application/json" && parameters["as"] == p.kind && parameters["g"] == pageGroup && slices.Contains(pageVersions(), parameters["v"]):
			p.writeObject(w, parameters["v"])
			return
		}
	}
	http.Error(w, fmt.Sprintf("406 not acceptable: there is text/plain, and application/json;as=%s;v=%s;g=%s", p.kind, pageVersions()[0], pageGroup),
		http.StatusNotAcceptable)
}

func (p zpage) writeObject(w http.ResponseWriter, version string) {
	w.Header().Set("Content-Type", fmt.Sprintf("application/json;g=%s;v=%s;as=%s", pageGroup, version, p.kind))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// A client that has gone away is no concern of ours.
	_ = json.NewEncoder(w).Encode(p.object(
		metav1.TypeMeta{Kind: p.kind, APIVersion: pageGroup + "/" + version}, metav1.ObjectMeta{Name: program}))
}

// statuszObject is /statusz as an object.
type statuszObject struct {
	metav1.TypeMeta
	Metadata      metav1.ObjectMeta `json:"metadata"`
	StartTime     metav1.Time       `json:"startTime"`
	UptimeSeconds int64             `json:"uptimeSeconds"`
	GoVersion     string            `json:"goVersion"`
	BinaryVersion string            `json:"binaryVersion"`
	Paths         []string          `json:"paths"`
}

// statusz says what is running, since when, and where to read on.
func statusz(started time.Time, build metrics.Build, paths []string) http.Handler {
	return zpage{
		kind: "Statusz",
		lines: func() string {
			up := int(time.Since(started).Seconds())
			return fmt.Sprintf("Started: %s\nUp: %d hr %02d min %02d sec\nGo version: %s\nBinary version: %s\nCommit: %s\nPaths: %s\n",
				started.UTC().Format(time.UnixDate), up/3600, up/60%60, up%60,
				build.GoVersion, build.Version, build.Commit, strings.Join(paths, " "))
		},
		object: func(kind metav1.TypeMeta, meta metav1.ObjectMeta) any {
			return statuszObject{kind, meta, metav1.NewTime(started), int64(time.Since(started).Seconds()),
				build.GoVersion, build.Version, paths}
		},
	}
}

// flagzObject is /flagz as an object.
type flagzObject struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Flags    map[string]string `json:"flags"`
}

// flagz lists the value of each flag. Lists are in brackets, as they are on the pages of the
// components of Kubernetes.
func flagz(flags *flag.FlagSet) http.Handler {
	text := func(f *flag.Flag) string {
		if list, ok := f.Value.(*list); ok {
			return "[" + list.String() + "]"
		}
		return f.Value.String()
	}
	return zpage{
		kind: "Flagz",
		lines: func() string {
			var lines strings.Builder
			flags.VisitAll(func(f *flag.Flag) { fmt.Fprintf(&lines, "%s=%s\n", f.Name, text(f)) })
			return lines.String()
		},
		object: func(kind metav1.TypeMeta, meta metav1.ObjectMeta) any {
			values := map[string]string{}
			flags.VisitAll(func(f *flag.Flag) { values[f.Name] = text(f) })
			return flagzObject{kind, meta, values}
		},
	}
}
