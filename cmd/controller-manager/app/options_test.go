package app

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/klog/v2"
)

// parse reads a command line and does not start anything.
func parse(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	t.Cleanup(func() {
		klog.ClearLogger()
		if err := setUpLogging(NewOptions(), io.Discard); err != nil {
			t.Error(err)
		}
	})
	options := NewOptions()
	command := newCommand(options, func(context.Context) error { return nil }, io.Discard)
	command.SetArgs(args)
	command.SetOut(io.Discard)
	command.SetErr(io.Discard)
	err := command.ExecuteContext(t.Context())
	return options, err
}

// mustParse is parse for a command line that is right.
func mustParse(t *testing.T, args ...string) *Options {
	t.Helper()
	options, err := parse(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return options
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// settings compares options without the flags that set them.
var settings = cmpopts.IgnoreUnexported(Options{})

func TestDefaults(t *testing.T) {
	want := &Options{
		QPS: -1, Burst: 30, ContentType: "application/vnd.kubernetes.protobuf",
		Controllers: []string{"*"}, DeploymentSyncs: 5, ReplicaSetSyncs: 5, MinResyncPeriod: 12 * time.Hour,
		TakeoverCheck:     "warn",
		PodFailureBackoff: true,
		LeaderElect:       true, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		LeaseNamespace: "kube-system", LeaseName: "controller-manager",
		BindAddress: "127.0.0.1", SecurePort: 10267,
		AlwaysAllowPaths: []string{"/healthz", "/readyz", "/livez"},
		LoggingFormat:    "text", Verbosity: 2,
	}
	if diff := cmp.Diff(want, mustParse(t), settings); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// flagTest says what a flag changes in the options.
type flagTest struct {
	value string
	set   func(*Options)
}

func flagTests() map[string]flagTest {
	return map[string]flagTest{
		"kubeconfig":                       {"/k", func(o *Options) { o.Kubeconfig = "/k" }},
		"master":                           {"https://api:6443", func(o *Options) { o.Master = "https://api:6443" }},
		"kube-api-qps":                     {"7.5", func(o *Options) { o.QPS = 7.5 }},
		"kube-api-burst":                   {"9", func(o *Options) { o.Burst = 9 }},
		"kube-api-content-type":            {"application/json", func(o *Options) { o.ContentType = "application/json" }},
		"controllers":                      {"*,-replicaset", func(o *Options) { o.Controllers = []string{"*", "-replicaset"} }},
		"concurrent-deployment-syncs":      {"6", func(o *Options) { o.DeploymentSyncs = 6 }},
		"concurrent-replicaset-syncs":      {"7", func(o *Options) { o.ReplicaSetSyncs = 7 }},
		"min-resync-period":                {"1h", func(o *Options) { o.MinResyncPeriod = time.Hour }},
		"use-service-account-credentials":  {"true", func(o *Options) { o.UseServiceAccountCredentials = true }},
		"pod-failure-backoff":              {"false", func(o *Options) { o.PodFailureBackoff = false }},
		"takeover-check":                   {"fail", func(o *Options) { o.TakeoverCheck = "fail" }},
		"leader-elect":                     {"false", func(o *Options) { o.LeaderElect = false }},
		"leader-elect-lease-duration":      {"60s", func(o *Options) { o.LeaseDuration = time.Minute }},
		"leader-elect-renew-deadline":      {"14s", func(o *Options) { o.RenewDeadline = 14 * time.Second }},
		"leader-elect-retry-period":        {"3s", func(o *Options) { o.RetryPeriod = 3 * time.Second }},
		"leader-elect-resource-name":       {"other", func(o *Options) { o.LeaseName = "other" }},
		"leader-elect-resource-namespace":  {"elsewhere", func(o *Options) { o.LeaseNamespace = "elsewhere" }},
		"bind-address":                     {"::", func(o *Options) { o.BindAddress = "::" }},
		"secure-port":                      {"0", func(o *Options) { o.SecurePort = 0 }},
		"client-ca-file":                   {"/ca", func(o *Options) { o.ClientCAFile = "/ca" }},
		"authentication-kubeconfig":        {"/a", func(o *Options) { o.AuthenticationKubeconfig = "/a" }},
		"authorization-kubeconfig":         {"/b", func(o *Options) { o.AuthorizationKubeconfig = "/b" }},
		"authorization-always-allow-paths": {"/x,/y*", func(o *Options) { o.AlwaysAllowPaths = []string{"/x", "/y*"} }},
		"profiling":                        {"true", func(o *Options) { o.Profiling = true }},
		"logging-format":                   {"json", func(o *Options) { o.LoggingFormat = "json" }},
		"v":                                {"4", func(o *Options) { o.Verbosity = 4 }},
		"vmodule":                          {"run=5", func(o *Options) { o.VModule = "run=5" }},
	}
}

func TestFlags(t *testing.T) {
	for name, test := range flagTests() {
		t.Run(name+" on the command line", func(t *testing.T) {
			want := mustParse(t)
			test.set(want)
			if diff := cmp.Diff(want, mustParse(t, "--"+name+"="+test.value), settings); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
		t.Run(name+" in the configuration file", func(t *testing.T) {
			path := writeFile(t, "config.yaml", name+": \""+test.value+"\"\n")
			want := mustParse(t)
			test.set(want)
			want.ConfigFile = path
			if diff := cmp.Diff(want, mustParse(t, "--config="+path), settings); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a certificate and its key go together", func(t *testing.T) {
		o := mustParse(t, "--tls-cert-file=/c", "--tls-private-key-file=/p")
		if o.TLSCertFile != "/c" || o.TLSPrivateKeyFile != "/p" {
			t.Errorf("got %q and %q", o.TLSCertFile, o.TLSPrivateKeyFile)
		}
	})
	t.Run("none is left out here", func(t *testing.T) {
		tested := flagTests()
		NewOptions().Flags().VisitAll(func(f *flag.Flag) {
			_, ok := tested[f.Name]
			switch {
			case ok, f.Name == "config", f.Name == "version", f.Name == "tls-cert-file", f.Name == "tls-private-key-file":
			default:
				t.Errorf("flag --%s is not tested", f.Name)
			}
		})
	})
}

func TestFlagsThatMeanALevelOrAListCanBeGivenInOtherWays(t *testing.T) {
	o := mustParse(t, "-v", "5", "--controllers=deployment", "--controllers", "replicaset-controller,")
	if o.Verbosity != 5 {
		t.Errorf("-v 5 gave level %d", o.Verbosity)
	}
	if diff := cmp.Diff([]string{"deployment", "replicaset-controller"}, o.Controllers); diff != "" {
		t.Errorf("--controllers twice (-want +got):\n%s", diff)
	}
}
