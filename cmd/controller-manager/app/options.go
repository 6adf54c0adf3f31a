package app

import (
	"flag"
	"strings"
	"time"

	"controller-manager/pkg/controllers/takeover"
)

// Options are the settings of the process. Each is a flag, and a setting of the
// configuration file by the flag's name.
type Options struct {
	flags *flag.FlagSet

	ConfigFile string
	Version    bool // say which version this is, and do nothing else

	Kubeconfig, Master string
	QPS                float64 // 0 or less: no limit
	Burst              int
	ContentType        string

	Controllers                      []string
	DeploymentSyncs, ReplicaSetSyncs int
	MinResyncPeriod                  time.Duration
	UseServiceAccountCredentials     bool
	TakeoverCheck                    string
	PodFailureBackoff                bool

	LeaderElect                               bool
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	LeaseNamespace, LeaseName                 string

	BindAddress                                       string
	SecurePort                                        int // 0: serve nothing
	TLSCertFile, TLSPrivateKeyFile, ClientCAFile      string
	AuthenticationKubeconfig, AuthorizationKubeconfig string
	AlwaysAllowPaths                                  []string
	Profiling                                         bool

	LoggingFormat string
	Verbosity     int
	VModule       string
}

// The names of the control loops, as --controllers and service accounts know them.
const (
	deploymentLoop = "deployment-controller"
	replicaSetLoop = "replicaset-controller"
)

// The wire formats.
const (
	contentProtobuf = "application/vnd.kubernetes.protobuf"
	contentJSON     = "application/json"
)

// NewOptions returns the default settings.
func NewOptions() *Options {
	o := &Options{}
	o.flags = flag.NewFlagSet("controller-manager", flag.ContinueOnError)
	o.addConnectionFlags(o.flags)
	o.addLoopFlags(o.flags)
	o.addLeaderFlags(o.flags)
	o.addServingFlags(o.flags)
	o.addLoggingFlags(o.flags)
	return o
}

// Flags returns the flags that set the options.
func (o *Options) Flags() *flag.FlagSet { return o.flags }

func (o *Options) addConnectionFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.ConfigFile, "config", "",
		"A `file` of settings in YAML, named like the flags. Flags on the command line win.")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "",
		"The kubeconfig `file` to reach the API server with. Without it and --master: the service account of the pod.")
	flags.StringVar(&o.Master, "master", "",
		"The `address` of the API server, in the place of that in the kubeconfig.")
	flags.Float64Var(&o.QPS, "kube-api-qps", -1,
		"The `number` of requests a second that each client sends to the API server. 0 or less: as many as it takes.")
	flags.IntVar(&o.Burst, "kube-api-burst", 30,
		"The `number` of requests that each client sends at once, where --kube-api-qps sets a limit.")
	flags.StringVar(&o.ContentType, "kube-api-content-type", contentProtobuf,
		"The `format` of requests: "+contentProtobuf+" or "+contentJSON+".")
}

func (o *Options) addLoopFlags(flags *flag.FlagSet) {
	listVar(flags, &o.Controllers, "controllers", []string{"*"},
		"The control `loops` to run: '*' all, 'name' that one, '-name' not that one. "+
			"They are "+deploymentLoop+" and "+replicaSetLoop+" (or deployment and replicaset).")
	flags.IntVar(&o.DeploymentSyncs, "concurrent-deployment-syncs", 5,
		"The `number` of Deployments that are synced at the same time.")
	flags.IntVar(&o.ReplicaSetSyncs, "concurrent-replicaset-syncs", 5,
		"The `number` of ReplicaSets that are synced at the same time.")
	flags.DurationVar(&o.MinResyncPeriod, "min-resync-period", 12*time.Hour,
		"Every object is looked at again after a random `duration` between this and twice this. 0: never without a reason.")
	flags.BoolVar(&o.UseServiceAccountCredentials, "use-service-account-credentials", false,
		"Let each loop write as its own service account in kube-system, named like the loop.")
	flags.BoolVar(&o.PodFailureBackoff, "pod-failure-backoff", true,
		"Wait, ever longer, before Pods of a ReplicaSet are replaced that fail within seconds of their creation, and whose replacement did, too. "+
			"false: replace them without a pause, as kube-controller-manager does.")
	flags.StringVar(&o.TakeoverCheck, "takeover-check", string(takeover.Warn),
		"The `mode` of looking for another program that runs the same loops, such as kube-controller-manager: "+
			"warn (say so in the log), fail (end this process) or off (do not look).")
}

func (o *Options) addLeaderFlags(flags *flag.FlagSet) {
	flags.BoolVar(&o.LeaderElect, "leader-elect", true,
		"Work only while holding a lease, so that several processes may run and one works.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second,
		"For what `duration` the others wait after the leader's last renewal before one of them takes over.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"For what `duration` the leader goes on without having renewed the lease. Shorter than the lease duration.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", 2*time.Second,
		"The `duration` between renewals, and between tries to get the lease. Less than five sixths of the renew deadline.")
	flags.StringVar(&o.LeaseName, "leader-elect-resource-name", "controller-manager",
		"The `name` of the lease.")
	flags.StringVar(&o.LeaseNamespace, "leader-elect-resource-namespace", "kube-system",
		"The `namespace` of the lease.")
}

func (o *Options) addServingFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.BindAddress, "bind-address", "127.0.0.1",
		"The `IP` address to serve health, metrics and debugging on.")
	flags.IntVar(&o.SecurePort, "secure-port", 10267,
		"The HTTPS `port` to serve on. 0: serve nothing.")
	flags.StringVar(&o.TLSCertFile, "tls-cert-file", "",
		"The `file` with the certificate to serve with. Without it: one made at the start, signed by itself.")
	flags.StringVar(&o.TLSPrivateKeyFile, "tls-private-key-file", "",
		"The `file` with the private key of --tls-cert-file.")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "",
		"A `file` of certificates; who shows one signed by one of them is the user it names.")
	flags.StringVar(&o.AuthenticationKubeconfig, "authentication-kubeconfig", "",
		"The kubeconfig `file` to check bearer tokens with. Without it: the one of --kubeconfig, or the service account.")
	flags.StringVar(&o.AuthorizationKubeconfig, "authorization-kubeconfig", "",
		"The kubeconfig `file` to check permissions with. Without it: the one of --kubeconfig, or the service account.")
	listVar(flags, &o.AlwaysAllowPaths, "authorization-always-allow-paths", []string{"/healthz", "/readyz", "/livez"},
		"The `paths` that everybody may read. One that ends with * stands for all that begin like it.")
	flags.BoolVar(&o.Profiling, "profiling", false,
		"Serve profiles on /debug/pprof.")
}

func (o *Options) addLoggingFlags(flags *flag.FlagSet) {
	flags.BoolVar(&o.Version, "version", false,
		"Say which version this is, and do nothing else.")
	flags.StringVar(&o.LoggingFormat, "logging-format", formatText,
		"The `format` of the log: "+formatText+" or "+formatJSON+".")
	flags.IntVar(&o.Verbosity, "v", 2,
		"The `level` of detail in the log: 2 what was done, 4 how it was decided.")
	flags.StringVar(&o.VModule, "vmodule", "",
		"Other levels of detail for single source files: `pattern=level,...` (only in the text format).")
}

// listVar defines a flag whose values are separated by commas. Given several times, the
// values add up.
func listVar(flags *flag.FlagSet, target *[]string, name string, initial []string, usage string) {
	*target = initial
	flags.Var(&list{items: target}, name, usage)
}

type list struct {
	items *[]string
	given bool
}

// String returns the values as they are written on the command line.
func (l *list) String() string {
	if l.items == nil { // flag makes an empty one to learn whether there is a default
		return ""
	}
	return strings.Join(*l.items, ",")
}

// Set replaces the default, and adds to what was given before.
func (l *list) Set(text string) error {
	if !l.given {
		l.given, *l.items = true, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			*l.items = append(*l.items, item)
		}
	}
	return nil
}
