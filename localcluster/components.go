package localcluster

import (
	"fmt"
	"slices"
	"strings"
)

// The addresses of Services and of fake pods must not overlap.
const (
	serviceRange = "10.0.0.0/24"
	// serviceAddress is the first of serviceRange: the Service "kubernetes".
	serviceAddress = "10.0.0.1"
	podRange       = "10.128.0.0/9"
)

// builtinLoopsOff turns off the loops whose place the controller-manager takes.
const builtinLoopsOff = "--controllers=*,-deployment-controller,-replicaset-controller"

// builtinLoopsOnly turns off all others.
const builtinLoopsOnly = "--controllers=deployment-controller,replicaset-controller"

// loopback makes a component serve on 127.0.0.1 only.
const loopback = "--bind-address=127.0.0.1"

// ports are the ports of one cluster.
type ports struct {
	etcd, etcdPeer, apiServer, scheduler, controllerManager int
}

func newPorts() (ports, error) {
	free, err := freePorts(5)
	if err != nil {
		return ports{}, err
	}
	return ports{etcd: free[0], etcdPeer: free[1], apiServer: free[2], scheduler: free[3], controllerManager: free[4]}, nil
}

func httpsURL(port int) string {
	return "https://" + hostPort(port)
}

// commands are the components that the options ask for, in the order in which
// they are started. They are stopped in the opposite order: an API server whose
// etcd is gone takes a minute to stop.
func (c *Cluster) commands(o Options) ([]Command, error) {
	etcdTLS, err := c.etcdClientTLS()
	if err != nil {
		return nil, err
	}
	apiTLS := c.authority.trust()
	commands := []Command{{
		Name:  Etcd,
		Args:  c.etcdArgs(),
		URL:   httpsURL(c.ports.etcd),
		Ready: HTTPProbe(httpsURL(c.ports.etcd)+"/readyz", etcdTLS),
	}, {
		Name:  APIServer,
		Args:  c.apiServerArgs(),
		URL:   c.URL,
		Ready: HTTPProbe(c.URL+"/readyz", apiTLS),
	}, {
		Name:  Scheduler,
		Args:  c.schedulerArgs(),
		URL:   httpsURL(c.ports.scheduler),
		Ready: HTTPProbe(httpsURL(c.ports.scheduler)+"/readyz", apiTLS),
	}, {
		Name:  ControllerManager,
		Args:  c.controllerManagerArgs(o.BuiltinLoops),
		URL:   httpsURL(c.ports.controllerManager),
		Ready: HTTPProbe(httpsURL(c.ports.controllerManager)+"/healthz", apiTLS),
	}, {
		Name: Kwok,
		Args: c.kwokArgs(),
	}}
	wanted := commands[:0]
	for _, command := range commands {
		if o.has(command.Name) {
			command.Path = c.binaries[command.Name]
			command.Args = override(command.Args, o.ExtraArgs[command.Name])
			wanted = append(wanted, command)
		}
	}
	return wanted, nil
}

// override adds flags, in the place of those of the same name.
func override(args, extra []string) []string {
	name := func(arg string) string {
		name, _, _ := strings.Cut(arg, "=")
		return name
	}
	given := map[string]bool{}
	for _, arg := range extra {
		given[name(arg)] = true
	}
	return append(slices.DeleteFunc(args, func(arg string) bool { return given[name(arg)] }), extra...)
}

func (c *Cluster) etcdArgs() []string {
	client, peer := httpsURL(c.ports.etcd), httpsURL(c.ports.etcdPeer)
	return []string{
		"--name=local",
		"--data-dir=" + c.layout.etcdData(),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=local=" + peer,
		"--cert-file=" + c.layout.certificate(Etcd),
		"--key-file=" + c.layout.key(Etcd),
		"--trusted-ca-file=" + c.layout.certificate(etcdAuthority),
		"--client-cert-auth",
		"--peer-cert-file=" + c.layout.certificate(Etcd),
		"--peer-key-file=" + c.layout.key(Etcd),
		"--peer-trusted-ca-file=" + c.layout.certificate(etcdAuthority),
		"--peer-client-cert-auth",
		// A power cut may lose the data of a local cluster: it is thrown away anyway.
		"--unsafe-no-fsync",
		"--quota-backend-bytes=8589934592",
	}
}

func (c *Cluster) apiServerArgs() []string {
	return []string{
		loopback,
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.ports.apiServer),
		"--tls-cert-file=" + c.layout.certificate(APIServer),
		"--tls-private-key-file=" + c.layout.key(APIServer),
		"--client-ca-file=" + c.layout.certificate(clusterAuthority),
		"--etcd-servers=" + httpsURL(c.ports.etcd),
		"--etcd-cafile=" + c.layout.certificate(etcdAuthority),
		"--etcd-certfile=" + c.layout.certificate(etcdClient),
		"--etcd-keyfile=" + c.layout.key(etcdClient),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.layout.pki(serviceAccountsPublic),
		"--service-account-signing-key-file=" + c.layout.key(serviceAccounts),
		"--service-cluster-ip-range=" + serviceRange,
		// For a kubelet that is started beside the cluster: who asks it for logs.
		"--kubelet-client-certificate=" + c.layout.certificate(APIServer),
		"--kubelet-client-key=" + c.layout.key(APIServer),
		// There is no kube-proxy to send traffic to these endpoints.
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--profiling=false",
		"--max-requests-inflight=2000",
		"--max-mutating-requests-inflight=1000",
		"--audit-policy-file=" + c.layout.auditPolicy(),
		"--audit-log-path=" + c.layout.auditLog(),
		"--audit-log-format=json",
		// In megabytes. Without it the log starts anew after 100, and a test that
		// counts requests would miss some.
		"--audit-log-maxsize=100000",
	}
}

func (c *Cluster) schedulerArgs() []string {
	return append(c.controlPlaneArgs(Scheduler, c.ports.scheduler),
		// With its own limit of 50 a second it would be the slowest part of every
		// large rollout.
		"--kube-api-qps=5000",
		"--kube-api-burst=5000",
	)
}

func (c *Cluster) controllerManagerArgs(builtinLoops bool) []string {
	args := append(c.controlPlaneArgs(ControllerManager, c.ports.controllerManager),
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.layout.key(serviceAccounts),
		"--root-ca-file="+c.layout.certificate(clusterAuthority),
		// It may see a node before that is ready. With 5 seconds between its
		// looks, pods would be kept from the node for that long.
		"--node-monitor-period=1s",
	)
	if builtinLoops {
		return append(args, "--controllers=*")
	}
	// The limits are raised so that a namespace of a thousand pods is cleaned up
	// in seconds.
	return append(args, builtinLoopsOff, "--kube-api-qps=1000", "--kube-api-burst=1000")
}

// BuiltinLoops is a kube-controller-manager that runs the Deployment and ReplicaSet loops and
// nothing else, to be launched beside a cluster whose own runs without them. The flags
// are added to its own, with its own limits on requests.
func (c *Cluster) BuiltinLoops(name string, flags ...string) (Command, error) {
	port, err := FreePort()
	if err != nil {
		return Command{}, err
	}
	args := append(c.controlPlaneArgs(ControllerManager, port),
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.layout.key(serviceAccounts),
		builtinLoopsOnly,
	)
	url := httpsURL(port)
	return Command{
		Name:  name,
		Path:  c.binaries[ControllerManager],
		Args:  append(args, flags...),
		URL:   url,
		Ready: HTTPProbe(url+"/healthz", c.authority.trust()),
	}, nil
}

// controlPlaneArgs are the flags that the scheduler and kube-controller-manager
// share. They do not elect a leader: each is alone, and would wait for a lease
// at every restart.
func (c *Cluster) controlPlaneArgs(name string, port int) []string {
	kubeconfig := c.layout.kubeconfig(name)
	return []string{
		loopback,
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + c.layout.certificate(name),
		"--tls-private-key-file=" + c.layout.key(name),
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--profiling=false",
	}
}

func (c *Cluster) kwokArgs() []string {
	return []string{
		"--kubeconfig=" + c.layout.kubeconfig(Kwok),
		"--config=" + c.layout.kwokConfig(),
		"--manage-all-nodes",
		"--node-lease-duration-seconds=40",
		"--cidr=" + podRange,
		// The address of every fake node, so that nothing that is meant for a
		// kubelet ("kubectl logs") leaves this machine.
		"--node-ip=127.0.0.1",
	}
}
