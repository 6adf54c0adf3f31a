package app

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"controller-manager/pkg/leaderelection"
)

func TestConnectionSettings(t *testing.T) {
	server := newAPIServer(t)
	kubeconfig := server.kubeconfig()
	tests := map[string]struct {
		args  []string
		check func(*rest.Config) bool
	}{
		"the kubeconfig says where the API server is": {nil, func(c *rest.Config) bool { return c.Host == server.URL }},
		"the kubeconfig says who we are":              {nil, func(c *rest.Config) bool { return c.BearerToken == "main" }},
		"--master says where it is instead": {[]string{"--master=https://other:1"},
			func(c *rest.Config) bool { return c.Host == "https://other:1" && c.BearerToken == "main" }},
		"requests are protobuf": {nil, func(c *rest.Config) bool { return c.ContentType == contentProtobuf }},
		"answers may be protobuf or JSON": {nil,
			func(c *rest.Config) bool { return c.AcceptContentTypes == contentProtobuf+","+contentJSON }},
		"--kube-api-content-type says so for both": {[]string{"--kube-api-content-type=application/json"},
			func(c *rest.Config) bool { return c.ContentType == contentJSON && c.AcceptContentTypes == contentJSON }},
		"the user agent is the program and its version": {nil,
			func(c *rest.Config) bool { return c.UserAgent == "controller-manager/"+build().Version }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := mainConfig(mustParse(t, append(test.args, "--kubeconfig="+kubeconfig)...))
			if err != nil {
				t.Fatal(err)
			}
			if !test.check(config) {
				t.Errorf("got %+v", config)
			}
		})
	}
}

func TestRequestLimits(t *testing.T) {
	tests := map[string]struct {
		args []string
		want float32 // requests a second; 0: no limit
	}{
		"there is none by default":          {nil, 0},
		"0 is none, not client-go's own":    {[]string{"--kube-api-qps=0"}, 0},
		"--kube-api-qps sets one":           {[]string{"--kube-api-qps=7"}, 7},
		"a burst alone does not set one":    {[]string{"--kube-api-burst=1"}, 0},
		"it may be less than one in second": {[]string{"--kube-api-qps=0.5"}, 0.5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clients := newTestClients(t, test.args...)
			loop, err := clients.forLoop(t.Context(), deploymentLoop)
			if err != nil {
				t.Fatal(err)
			}
			limiters := map[any]bool{}
			for _, client := range []*kubernetes.Clientset{clients.main, clients.leases, clients.events, loop} {
				limiter := client.CoreV1().RESTClient().GetRateLimiter()
				if limiter == nil {
					continue
				}
				limiters[limiter] = true
				if got := limiter.QPS(); got != test.want {
					t.Errorf("got a limit of %v, want %v", got, test.want)
				}
			}
			if want := map[bool]int{true: 4}[test.want > 0]; len(limiters) != want {
				t.Errorf("got %d limiters for 4 clients, want %d", len(limiters), want)
			}
		})
	}
}

func newTestClients(t *testing.T, args ...string) *clients {
	t.Helper()
	options := mustParse(t, append(args, "--master=https://127.0.0.1:1")...)
	config, err := mainConfig(options)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := newClients(options, config, leaderelection.NewFence())
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func TestBadKubeconfigsSayWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		path  string
		words []string
	}{
		"one that is not there":     {"/does/not/exist", []string{"/does/not/exist", "no such file"}},
		"one that is empty":         {writeFile(t, "empty", ""), []string{"names no cluster", "current-context"}},
		"one that is no kubeconfig": {writeFile(t, "text", "hello"), []string{"reading kubeconfig"}},
		"one whose files are missing": {writeFile(t, "incomplete", `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://api:6443", certificate-authority: /does/not/exist}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: x
`), []string{"/does/not/exist"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := mainConfig(mustParse(t, "--kubeconfig="+test.path))
			if err == nil {
				t.Fatal("got no error")
			}
			isOneLine(t, oneLine(err)+"\n", test.words...)
		})
	}
	t.Run("an address that cannot be one", func(t *testing.T) {
		for _, address := range []string{"ftp://x/", "::::"} {
			_, err := mainConfig(mustParse(t, "--master="+address))
			if err == nil {
				t.Fatalf("%s: got no error", address)
			}
			isOneLine(t, oneLine(err)+"\n", address, "https://HOST:PORT")
		}
	})
	t.Run("none, outside of a cluster", func(t *testing.T) {
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		_, err := mainConfig(mustParse(t))
		if err == nil {
			t.Fatal("got no error")
		}
		isOneLine(t, oneLine(err)+"\n", "--kubeconfig", "service account")
	})
	t.Run("none, in a cluster: the service account's files are looked for", func(t *testing.T) {
		t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
		t.Setenv("KUBERNETES_SERVICE_PORT", "443")
		_, err := mainConfig(mustParse(t))
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/var/run/secrets/") {
			t.Errorf("got error %v, want that the files are missing", err)
		}
	})
}

func TestEachPurposeHasItsOwnConnection(t *testing.T) {
	server := newAPIServer(t)
	clients := newClientsOf(t, server, openFence())
	all := []*kubernetes.Clientset{clients.main, clients.leases, clients.events}
	for _, loop := range []string{deploymentLoop, replicaSetLoop} {
		client, err := clients.forLoop(t.Context(), loop)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, client)
	}
	for range 3 {
		for _, client := range all {
			if _, err := client.CoreV1().Pods("a").List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if server.connections != len(all) {
		t.Errorf("%d clients made %d connections, want one each", len(all), server.connections)
	}
	if diff := cmp.Diff(map[string]bool{"controller-manager/" + build().Version: true}, server.agents); diff != "" {
		t.Errorf("user agents (-want +got):\n%s", diff)
	}
}

func TestTheLoopsWriteAsWhomTheyAreToldAndOnlyThroughTheFence(t *testing.T) {
	tests := map[string]struct {
		args  []string
		fence *leaderelection.Fence
		as    string // who created a Pod; "" for nobody
	}{
		"as the process, by default": {
			fence: openFence(), as: "main",
		},
		"as a service account, with --use-service-account-credentials": {
			args: []string{"--use-service-account-credentials"}, fence: openFence(), as: "account",
		},
		"not as the process without the lease": {
			fence: leaderelection.NewFence(),
		},
		"not as a service account without the lease": {
			args: []string{"--use-service-account-credentials"}, fence: leaderelection.NewFence(),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := newAPIServer(t)
			clients := newClientsOf(t, server, test.fence, test.args...)
			loop, err := clients.forLoop(t.Context(), replicaSetLoop)
			if err != nil {
				t.Fatal(err)
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			_, err = loop.CoreV1().Pods("a").Create(t.Context(), pod, metav1.CreateOptions{})
			if test.as == "" {
				if !errors.Is(err, leaderelection.ErrFenced) {
					t.Errorf("got error %v, want ErrFenced", err)
				}
			} else if err != nil {
				t.Error(err)
			}
			for _, user := range []string{"main", "account"} {
				want := 0
				if user == test.as {
					want = 1
				}
				if got := server.seen(user + " POST /api/v1/namespaces/a/pods"); got != want {
					t.Errorf("%q created %d Pods, want %d", user, got, want)
				}
			}
			// Without the lease nothing leaves on the loop's connections, not even a read.
			_, err = loop.CoreV1().Pods("a").List(t.Context(), metav1.ListOptions{})
			if fenced := errors.Is(err, leaderelection.ErrFenced); fenced != (test.as == "") {
				t.Errorf("a read by the loop got error %v", err)
			}
			// Nor is anything told: who does not lead has done nothing.
			_, err = clients.events.CoreV1().Events("b").Create(t.Context(), &corev1.Event{}, metav1.CreateOptions{})
			if fenced := errors.Is(err, leaderelection.ErrFenced); fenced != (test.as == "") {
				t.Errorf("an event got error %v", err)
			}
			// The lease itself must be taken without it.
			for _, client := range []*kubernetes.Clientset{clients.main, clients.leases} {
				if _, err := client.CoreV1().Pods("b").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
					t.Errorf("a client that is not a loop's got error %v", err)
				}
			}
		})
	}
}

func openFence() *leaderelection.Fence {
	fence := leaderelection.NewFence()
	fence.Extend(time.Now().Add(time.Hour))
	return fence
}

func newClientsOf(t *testing.T, server *apiServer, fence *leaderelection.Fence, args ...string) *clients {
	t.Helper()
	options := mustParse(t, append(args, "--kubeconfig="+server.kubeconfig())...)
	config, err := mainConfig(options)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := newClients(options, config, fence)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}
