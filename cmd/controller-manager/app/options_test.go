package app

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/features"
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
		LeaderElect: true, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
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

func TestBadCommandLinesAreOneLineAndStartNothing(t *testing.T) {
	tests := map[string]struct {
		args  []string
		words []string
	}{
		"an unknown flag":                             {[]string{"--frobnicate"}, []string{"unknown flag", "--frobnicate"}},
		"an argument that is no flag":                 {[]string{"run"}, []string{`"run"`}},
		"a word where a number belongs":               {[]string{"--secure-port=x"}, []string{"secure-port"}},
		"a duration without its unit":                 {[]string{"--min-resync-period=5"}, []string{"min-resync-period"}},
		"a port that does not exist":                  {[]string{"--secure-port=65536"}, []string{"--secure-port=65536", "65535"}},
		"a negative port":                             {[]string{"--secure-port=-1"}, []string{"--secure-port=-1"}},
		"an address that is none":                     {[]string{"--bind-address=here"}, []string{"--bind-address=here", "IP"}},
		"no workers":                                  {[]string{"--concurrent-deployment-syncs=0"}, []string{"--concurrent-deployment-syncs=0"}},
		"too many workers":                            {[]string{"--concurrent-replicaset-syncs=1001"}, []string{"1000"}},
		"a resync in the past":                        {[]string{"--min-resync-period=-1s"}, []string{"--min-resync-period=-1s"}},
		"a limit that is no number":                   {[]string{"--kube-api-qps=NaN"}, []string{"--kube-api-qps"}},
		"a limit without room for one request":        {[]string{"--kube-api-qps=5", "--kube-api-burst=0"}, []string{"--kube-api-burst=0"}},
		"a format that the API server does not speak": {[]string{"--kube-api-content-type=text/xml"}, []string{"text/xml"}},
		"an unknown loop":                             {[]string{"--controllers=*,cronjob"}, []string{"--controllers=cronjob", deploymentLoop}},
		"no loop left to run":                         {[]string{"--controllers=-deployment,-replicaset,*"}, []string{"leaves a loop"}},
		"only what not to run":                        {[]string{"--controllers=-deployment"}, []string{"leaves a loop"}},
		"an empty list of loops":                      {[]string{"--controllers="}, []string{"leaves a loop"}},
		"a lease shorter than a second":               {[]string{"--leader-elect-lease-duration=500ms"}, []string{"lease-duration=500ms"}},
		"a lease with a fraction of a second":         {[]string{"--leader-elect-lease-duration=15500ms"}, []string{"lease-duration=15.5s"}},
		"a renew deadline as long as the lease":       {[]string{"--leader-elect-renew-deadline=15s"}, []string{"renew-deadline=15s"}},
		"a retry period too near the deadline":        {[]string{"--leader-elect-retry-period=9s"}, []string{"retry-period=9s"}},
		"no retry period":                             {[]string{"--leader-elect-retry-period=0"}, []string{"retry-period=0s"}},
		"a lease with an impossible name":             {[]string{"--leader-elect-resource-name=A_b"}, []string{"A_b"}},
		"a namespace with an impossible name":         {[]string{"--leader-elect-resource-namespace=a.b"}, []string{"a.b"}},
		"a certificate without its key":               {[]string{"--tls-cert-file=/c"}, []string{"--tls-private-key-file"}},
		"an open path that is none":                   {[]string{"--authorization-always-allow-paths=healthz"}, []string{"healthz"}},
		"an open path with a star inside":             {[]string{"--authorization-always-allow-paths=/a*b"}, []string{"/a*b"}},
		"an unknown logging format":                   {[]string{"--logging-format=xml"}, []string{"xml"}},
		"a negative level":                            {[]string{"-v=-1"}, []string{"--v=-1"}},
		"levels by file in a format without them":     {[]string{"--logging-format=json", "--vmodule=run=4"}, []string{"vmodule"}},
		"levels by file that make no sense":           {[]string{"--vmodule=run"}, []string{"vmodule"}},
		"two bad values": {[]string{"--secure-port=-1", "--v=-1"}, []string{
			"--secure-port=-1", "--v=-1"}},
		"a configuration file that is not there": {[]string{"--config=/does/not/exist"}, []string{"/does/not/exist"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(klog.ClearLogger)
			var stdout, stderr bytes.Buffer
			code := Main(t.Context(), test.args, &stdout, &stderr)
			if code != exitUsage {
				t.Errorf("got exit code %d, want %d", code, exitUsage)
			}
			if stdout.Len() > 0 {
				t.Errorf("got %q on standard output, want nothing", stdout.String())
			}
			isOneLine(t, stderr.String(), test.words...)
		})
	}
}

func TestConfigFile(t *testing.T) {
	tests := map[string]struct {
		content string
		args    []string
		set     func(*Options)
		words   []string // of the error
	}{
		"numbers, truth values and lists are written as in any YAML": {
			content: "secure-port: 20000\nkube-api-qps: 0.5\nleader-elect: false\ncontrollers: [deployment, -replicaset]\n",
			set: func(o *Options) {
				o.SecurePort, o.QPS, o.LeaderElect = 20000, 0.5, false
				o.Controllers = []string{"deployment", "-replicaset"}
			},
		},
		"a flag on the command line wins, and the rest of the file counts": {
			content: "secure-port: 20000\nv: 4\ncontrollers: deployment\n",
			args:    []string{"--secure-port=30000", "--controllers=replicaset"},
			set: func(o *Options) {
				o.SecurePort, o.Verbosity, o.Controllers = 30000, 4, []string{"replicaset"}
			},
		},
		"an unknown setting is named": {
			content: "secure-port: 20000\nport: 1\n", words: []string{`"port"`, "there is no setting"},
		},
		"a file cannot name another one": {
			content: "config: other.yaml\n", words: []string{`"config"`},
		},
		"a file cannot ask for the version": {
			content: "version: true\n", words: []string{`"version"`},
		},
		"a setting is checked as its flag is": {
			content: "secure-port: 99999\n", words: []string{"--secure-port=99999"},
		},
		"a setting of the wrong kind is named": {
			content: "secure-port: often\n", words: []string{`"secure-port"`},
		},
		"a setting of settings is refused": {
			content: "secure-port: {a: 1}\n", words: []string{`"secure-port"`, "must be a text"},
		},
		"a list with a list inside is refused": {
			content: "controllers: [[a]]\n", words: []string{`"controllers"`},
		},
		"a setting given twice is refused": {
			content: "v: 1\nv: 2\n", words: []string{"already set"},
		},
		"something else than settings is refused": {
			content: "- v\n", words: []string{"settings by name"},
		},
		"a file that is no YAML is refused": {
			content: "v: [\n", words: []string{"reading YAML"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "config.yaml", test.content)
			got, err := parse(t, append(test.args, "--config="+path)...)
			if test.words != nil {
				if err == nil {
					t.Fatal("got no error")
				}
				isOneLine(t, oneLine(err)+"\n", test.words...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := mustParse(t)
			test.set(want)
			want.ConfigFile = path
			if diff := cmp.Diff(want, got, settings); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestControllers(t *testing.T) {
	tests := map[string]struct {
		value                  string
		deployment, replicaSet bool
	}{
		"a star is both":                              {"*", true, true},
		"a name is that one":                          {"deployment-controller", true, false},
		"an old alias is as good as the name":         {"replicaset", false, true},
		"a dash takes one away from the star":         {"*,-replicaset-controller", true, false},
		"a dash before the star is the same":          {"-deployment,*", false, true},
		"the first that names a loop decides":         {"deployment,-deployment-controller,replicaset", true, true},
		"both by name are both":                       {"deployment-controller,replicaset-controller", true, true},
		"a name beside the star adds nothing":         {"*,deployment", true, true},
		"a dash alone turns nothing on for the other": {"-deployment,replicaset", false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := mustParse(t, "--controllers="+test.value)
			if got := o.enabled(deploymentLoop); got != test.deployment {
				t.Errorf("%s enabled: %t, want %t", deploymentLoop, got, test.deployment)
			}
			if got := o.enabled(replicaSetLoop); got != test.replicaSet {
				t.Errorf("%s enabled: %t, want %t", replicaSetLoop, got, test.replicaSet)
			}
		})
	}
}

func TestVersionIsSaidAndNothingElseDone(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"--version", "--secure-port=-1"}, &stdout, &stderr)
	if code != exitOK || stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q on standard error, want %d and nothing", code, stderr.String(), exitOK)
	}
	isOneLine(t, stdout.String(), "controller-manager ", "commit", runtime.Version())
}

func TestHelpListsTheFlagsAndEndsWell(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Main(t.Context(), []string{"--help"}, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q on standard error, want %d and nothing", code, stderr.String(), exitOK)
	}
	NewOptions().Flags().VisitAll(func(f *flag.Flag) {
		if !strings.Contains(stdout.String(), "--"+f.Name) {
			t.Errorf("--%s is not in the help", f.Name)
		}
	})
}

type gates bool

func (g gates) Enabled(feature features.Feature) bool {
	return bool(g) || feature != features.AtomicFIFO
}

func TestWithoutTheAgeOfItsCachesNothingStarts(t *testing.T) {
	if err := checkFeatures(gates(true)); err != nil {
		t.Errorf("got %v with the feature on", err)
	}
	err := checkFeatures(gates(false))
	if err == nil {
		t.Fatal("got no error with the feature off")
	}
	isOneLine(t, oneLine(err)+"\n", "KUBE_FEATURE_AtomicFIFO")
}
