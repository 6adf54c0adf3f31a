package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"controller-manager/pkg/leaderelection"
)

// clients are the connections to the API server: one for each purpose, so that none waits
// for another.
type clients struct {
	config *rest.Config
	fence  *leaderelection.Fence
	own    bool // whether each loop has its own service account

	main   *kubernetes.Clientset // the informers, and everything small
	leases *kubernetes.Clientset
	events *kubernetes.Clientset
}

// answerWithin bounds requests whose answer is short, in clients that only make such.
const answerWithin = 30 * time.Second

func newClients(options *Options, config *rest.Config, fence *leaderelection.Fence) (*clients, error) {
	c := &clients{config: config, fence: fence, own: options.UseServiceAccountCredentials}
	events := rest.CopyConfig(config)
	events.Timeout = answerWithin
	events.Wrap(fence.Transport) // who no longer leads has nothing to tell

	var failures [3]error
	c.main, failures[0] = connect(config, dial)
	c.leases, failures[1] = connect(config, dial)
	c.events, failures[2] = connect(events, fence.Dial(dial))
	return c, errors.Join(failures[:]...)
}

// forLoop returns the client that the named loop writes with. It is an error if its service
// account is out of reach: every sync would fail, of every object, and tell its owner so.
func (c *clients) forLoop(ctx context.Context, name string) (*kubernetes.Clientset, error) {
	config := rest.CopyConfig(c.config)
	config.Timeout = answerWithin // a worker must not wait for ever for an answer that got lost
	if c.own {
		config = rest.AnonymousClientConfig(config)
		tokens := newTokens(c.main.CoreV1(), name, clock.RealClock{})
		if _, err := tokens.get(ctx); apierrors.IsForbidden(err) { // another error may pass
			return nil, fmt.Errorf("%w; --use-service-account-credentials is for the kubeconfig of kube-controller-manager: "+
				"leave it out with another one", err)
		}
		config.Wrap(tokens.transport)
	}
	config.Wrap(c.fence.Transport)
	return connect(config, c.fence.Dial(dial))
}

// dial opens a connection the way client-go does by default.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// connect returns a client with connections of its own. client-go shares connections
// between clients of the same settings, but never where the way to dial is set.
func connect(config *rest.Config, dial leaderelection.Dial) (*kubernetes.Clientset, error) {
	config = rest.CopyConfig(config)
	config.Dial = dial
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("setting up a connection to %s: %w", config.Host, err)
	}
	return client, nil
}

// mainConfig returns the settings that all connections begin with.
func mainConfig(options *Options) (*rest.Config, error) {
	config, err := readKubeconfig(options.Kubeconfig, options.Master)
	if err != nil {
		return nil, err
	}
	if server, _, err := rest.DefaultServerUrlFor(config); err != nil || server.Scheme != "https" && server.Scheme != "http" {
		return nil, fmt.Errorf("the address of the API server is %q, and must be like https://HOST:PORT", config.Host)
	}
	config.ContentType = options.ContentType
	config.AcceptContentTypes = contentProtobuf + "," + contentJSON
	if options.ContentType == contentJSON {
		config.AcceptContentTypes = contentJSON
	}
	config.QPS, config.Burst = float32(options.QPS), options.Burst
	if options.QPS <= 0 {
		config.QPS = -1 // 0 would mean client-go's own limit
	}
	config.UserAgent = userAgent(build())
	config.WarningHandlerWithContext = warnings{}
	return config, nil
}

// readKubeconfig returns what a kubeconfig file says, with the address of the API server
// replaced if there is another one; without both, what the pod's service account says.
func readKubeconfig(path, address string) (*rest.Config, error) {
	if path == "" && address == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("give --kubeconfig=FILE; without it this must be a pod with a service account: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: path},
		&clientcmd.ConfigOverrides{ClusterInfo: clientcmdapi.Cluster{Server: address}},
	).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("kubeconfig %q names no cluster: set its current-context", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %q: %w", path, err)
	}
	return config, nil
}

// warnings receives the warnings in the API server's answers. They are about what
// users wrote, who were warned when they wrote it; the log is not the place.
type warnings struct{}

// HandleWarningHeaderWithContext notes a warning in the detailed log.
func (warnings) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	klog.FromContext(ctx).V(4).Info("The API server warns", "warning", text)
}
