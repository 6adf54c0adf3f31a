package app

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"controller-manager/pkg/controllers/takeover"
)

// maxSyncs bounds the workers of a loop. More would only wait for the API server.
const maxSyncs = 1000

// Complete adds the settings of the configuration file to those of the command line, and
// checks them all. given reports whether a flag was on the command line. The error names
// every bad value and what would be a good one.
func (o *Options) Complete(given func(name string) bool) error {
	if o.ConfigFile != "" {
		if err := readConfigFile(o.ConfigFile, o.flags, given); err != nil {
			return err
		}
	}
	return errors.Join(o.checkConnection(), o.checkLoops(), o.checkLeader(), o.checkServing(), o.checkLogging())
}

// rule is what must hold for a value of a flag.
type rule struct {
	holds bool
	flag  string
	value any
	want  string
}

// check returns an error that names each rule that does not hold.
func check(rules ...rule) error {
	var broken []error
	for _, r := range rules {
		if !r.holds {
			broken = append(broken, fmt.Errorf("--%s=%v: it must be %s", r.flag, r.value, r.want))
		}
	}
	return errors.Join(broken...)
}

func (o *Options) checkConnection() error {
	return check(
		rule{!math.IsNaN(o.QPS) && !math.IsInf(o.QPS, 0), "kube-api-qps", o.QPS, "a number; 0 or less for no limit"},
		rule{o.QPS <= 0 || o.Burst > 0, "kube-api-burst", o.Burst, "at least 1 where --kube-api-qps sets a limit"},
		rule{o.ContentType == contentProtobuf || o.ContentType == contentJSON, "kube-api-content-type", o.ContentType,
			contentProtobuf + " or " + contentJSON},
	)
}

func (o *Options) checkLoops() error {
	workers := fmt.Sprintf("from 1 to %d", maxSyncs)
	rules := []rule{
		{1 <= o.DeploymentSyncs && o.DeploymentSyncs <= maxSyncs, "concurrent-deployment-syncs", o.DeploymentSyncs, workers},
		{1 <= o.ReplicaSetSyncs && o.ReplicaSetSyncs <= maxSyncs, "concurrent-replicaset-syncs", o.ReplicaSetSyncs, workers},
		{0 <= o.MinResyncPeriod && o.MinResyncPeriod <= math.MaxInt64/2, "min-resync-period", o.MinResyncPeriod, "0 or more"},
		{slices.Contains([]takeover.Mode{takeover.Warn, takeover.Fail, takeover.Off}, takeover.Mode(o.TakeoverCheck)),
			"takeover-check", o.TakeoverCheck, "warn, fail or off"},
	}
	allKnown := true
	for _, item := range o.Controllers {
		name := loopName(strings.TrimPrefix(item, "-"))
		known := item == "*" || name == deploymentLoop || name == replicaSetLoop
		allKnown = allKnown && known
		rules = append(rules, rule{known, "controllers", item, "*, " + deploymentLoop + ", " + replicaSetLoop +
			", or one of these two with a dash before it"})
	}
	if allKnown { // else it is known already what is wrong
		rules = append(rules, rule{o.enabled(deploymentLoop) || o.enabled(replicaSetLoop), "controllers", strings.Join(o.Controllers, ","),
			"a list that leaves a loop to run, such as *,-" + deploymentLoop + " for all but one"})
	}
	return check(rules...)
}

// loopName returns the name of a loop for its name or its old alias.
func loopName(name string) string {
	switch name {
	case "deployment":
		return deploymentLoop
	case "replicaset":
		return replicaSetLoop
	}
	return name
}

// enabled reports whether --controllers asks for a loop. The first item that names it
// decides; if none does, whether there is a star.
func (o *Options) enabled(loop string) bool {
	for _, item := range o.Controllers {
		name, without := strings.CutPrefix(item, "-")
		if loopName(name) == loop {
			return !without
		}
	}
	return slices.Contains(o.Controllers, "*")
}

func (o *Options) checkLeader() error {
	// The protocol writes the lease duration in whole seconds, and the renewals are
	// spread over up to 1.2 retry periods.
	return check(
		rule{o.LeaseDuration >= time.Second && o.LeaseDuration%time.Second == 0 && o.LeaseDuration <= math.MaxInt32*time.Second,
			"leader-elect-lease-duration", o.LeaseDuration, "whole seconds, at least one"},
		rule{0 < o.RenewDeadline && o.RenewDeadline < o.LeaseDuration,
			"leader-elect-renew-deadline", o.RenewDeadline, "more than 0 and less than the lease duration"},
		rule{0 < o.RetryPeriod && float64(o.RetryPeriod)*1.2 < float64(o.RenewDeadline),
			"leader-elect-retry-period", o.RetryPeriod, "more than 0 and less than five sixths of the renew deadline"},
		rule{len(validation.IsDNS1123Subdomain(o.LeaseName)) == 0,
			"leader-elect-resource-name", o.LeaseName, "a name as Kubernetes allows it"},
		rule{len(validation.IsDNS1123Label(o.LeaseNamespace)) == 0,
			"leader-elect-resource-namespace", o.LeaseNamespace, "the name of a namespace"},
	)
}

func (o *Options) checkServing() error {
	rules := []rule{
		{net.ParseIP(o.BindAddress) != nil, "bind-address", o.BindAddress, "an IP address"},
		{0 <= o.SecurePort && o.SecurePort <= math.MaxUint16, "secure-port", o.SecurePort, "from 1 to 65535, or 0 to serve nothing"},
		{(o.TLSCertFile == "") == (o.TLSPrivateKeyFile == ""), "tls-cert-file", o.TLSCertFile, "given together with --tls-private-key-file"},
	}
	for _, path := range o.AlwaysAllowPaths {
		star := strings.IndexByte(path, '*')
		rules = append(rules, rule{strings.HasPrefix(path, "/") && (star < 0 || star == len(path)-1),
			"authorization-always-allow-paths", path, "a path that begins with /, with a * only at its end"})
	}
	return check(rules...)
}

func (o *Options) checkLogging() error {
	return check(
		rule{o.LoggingFormat == formatText || o.LoggingFormat == formatJSON, "logging-format", o.LoggingFormat,
			formatText + " or " + formatJSON},
		rule{0 <= o.Verbosity && o.Verbosity <= math.MaxInt8, "v", o.Verbosity, "from 0 to 127"},
		rule{o.VModule == "" || o.LoggingFormat == formatText, "vmodule", o.VModule, "absent where --logging-format is not text"},
	)
}
