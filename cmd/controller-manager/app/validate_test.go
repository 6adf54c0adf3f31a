package app

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

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
		"a check that does not exist":                 {[]string{"--takeover-check=error"}, []string{"--takeover-check=error", "warn, fail or off"}},
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

func TestNothingBesideTheCauseIsSaid(t *testing.T) {
	tests := map[string]struct{ arg, beside string }{
		"of an unknown loop not that none is left":    {"--controllers=cronjob", "leaves a loop"},
		"of a text instead of settings no type of Go": {"--config=" + writeFile(t, "config.yaml", "hello\n"), "map["},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := Main(t.Context(), []string{test.arg}, io.Discard, &stderr); code != exitUsage {
				t.Errorf("got exit code %d, want %d", code, exitUsage)
			}
			if strings.Contains(stderr.String(), test.beside) {
				t.Errorf("it says %q", stderr.String())
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
