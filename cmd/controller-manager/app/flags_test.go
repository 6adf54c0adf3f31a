package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What each flag does, where that can be seen by an API server or by who asks the process.

func TestRequestsWaitForTheirTurn(t *testing.T) {
	ask := func(ctx context.Context, t *testing.T, requests int, args ...string) (answered int) {
		server := newAPIServer(t)
		loop, err := newClientsOf(t, server, openFence(), args...).forLoop(t.Context(), deploymentLoop)
		if err != nil {
			t.Fatal(err)
		}
		for range requests {
			if _, err := loop.CoreV1().Pods("a").List(ctx, metav1.ListOptions{}); err != nil {
				break
			}
		}
		return server.seen("main GET /api/v1/namespaces/a/pods")
	}
	t.Run("as many a second as --kube-api-qps says", func(t *testing.T) {
		began := time.Now()
		answered := ask(t.Context(), t, 5, "--kube-api-qps=10", "--kube-api-burst=1")
		if took := time.Since(began); answered != 5 || took < 400*time.Millisecond {
			t.Errorf("%d requests were answered within %s, want 5 within 400 ms or more", answered, took)
		}
	})
	t.Run("but as many as --kube-api-burst says at once", func(t *testing.T) {
		// Who would have to wait for longer than its time is not sent at all.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if answered := ask(ctx, t, 7, "--kube-api-qps=0.001", "--kube-api-burst=4"); answered != 4 {
			t.Errorf("%d requests were answered at once, want 4", answered)
		}
	})
}

func TestTheFormatOnTheWire(t *testing.T) {
	tests := map[string]struct {
		args []string
		want map[string]bool // "body; answer"
	}{
		"protobuf, and JSON from who has nothing else": {nil, map[string]bool{
			"application/vnd.kubernetes.protobuf; application/vnd.kubernetes.protobuf,application/json": true}},
		"JSON where it is asked for": {[]string{"--kube-api-content-type=application/json"}, map[string]bool{
			"application/json; application/json": true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := newAPIServer(t)
			clients := newClientsOf(t, server, openFence(), test.args...)
			loop, err := clients.forLoop(t.Context(), replicaSetLoop)
			if err != nil {
				t.Fatal(err)
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			if _, err := loop.CoreV1().Pods("a").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			server.mu.Lock()
			defer server.mu.Unlock()
			if diff := cmp.Diff(test.want, server.formats); diff != "" {
				t.Errorf("formats (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectsAreLookedAtAgainAfterTheResyncPeriod(t *testing.T) {
	server := newAPIServer(t)
	server.pod = podNamed("x")
	options := mustParse(t, "--min-resync-period=1s")
	caches, err := newCaches(newClientsOf(t, server, openFence()).main, options.MinResyncPeriod, unseen)
	if err != nil {
		t.Fatal(err)
	}
	again := make(chan struct{})
	once := sync.OnceFunc(func() { close(again) })
	_, err = caches.factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ any) { once() }, // the server changes nothing
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer func() {
		stop()
		caches.stop()
	}()
	caches.start(ctx)
	select {
	case <-again:
	case <-time.After(time.Minute):
		t.Error("within a minute there was no resync")
	}
}

func TestTheLeaseIsWhatTheFlagsSay(t *testing.T) {
	const retry = 2500 * time.Millisecond // more than the default and its jitter
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	server := newAPIServer(t)
	p := startProcess(t, server, "--leader-elect-resource-namespace=elsewhere", "--leader-elect-resource-name=other",
		"--leader-elect-lease-duration=17s", "--leader-elect-renew-deadline=11s", "--leader-elect-retry-period="+retry.String())
	p.awaitLine("Became the leader")
	count := func() int {
		server.mu.Lock()
		defer server.mu.Unlock()
		return len(server.renewals)
	}
	await(t, "two renewals", func() bool { return count() > 2 }, p.log)
	server.mu.Lock()
	lease, renewals, requests := server.lease, server.renewals, server.requests
	server.mu.Unlock()
	if lease.Namespace != "elsewhere" || lease.Name != "other" {
		t.Errorf("the lease is %s/%s, want elsewhere/other", lease.Namespace, lease.Name)
	}
	if got := lease.Spec.LeaseDurationSeconds; got == nil || *got != 17 {
		t.Errorf("it is good for %v seconds, want 17", got)
	}
	if got := lease.Spec.HolderIdentity; got == nil || !regexp.MustCompile("^"+host+"_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$").MatchString(*got) {
		t.Errorf("it is held by %v, want %s_uuid", got, host)
	}
	if gap := renewals[2].Sub(renewals[1]); gap < retry-100*time.Millisecond {
		t.Errorf("it was renewed after %s, want the retry period %s", gap, retry)
	}
	for _, request := range requests {
		if strings.Contains(request, "/leases") && !strings.Contains(request, "/namespaces/elsewhere/leases") {
			t.Errorf("another lease was asked for: %s", request)
		}
	}
	p.stop()
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

func TestTheAddressToServeOn(t *testing.T) {
	options := mustParse(t, "--bind-address=127.0.0.2")
	address := serve(t, "--bind-address=127.0.0.2")
	if want := "https://" + options.BindAddress + ":"; !strings.HasPrefix(address, want) {
		t.Errorf("it serves on %s, want %s", address, want)
	}
}

func TestProfilesAreServedWhereAskedFor(t *testing.T) {
	for flag, want := range map[string]int{"--profiling": http.StatusOK, "--profiling=false": http.StatusNotFound} {
		address := serve(t, flag, "--authorization-always-allow-paths=/debug/*")
		if code, _ := get(t, insecure(), address+"/debug/pprof/"); code != want {
			t.Errorf("with %s: got %d, want %d", flag, code, want)
		}
	}
}

// lockedBuffer may be written to by several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the text.
func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

// String returns the text.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestEachLineOfAWholeLifeIsJSON(t *testing.T) {
	mustParse(t) // puts the log back in the end
	server := newAPIServer(t)
	var stdout, stderr lockedBuffer
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, []string{"--kubeconfig=" + server.kubeconfig(), "--secure-port=" + freePort(t), "--logging-format=json", "-v=4"}, &stdout, &stderr)
	}()
	await(t, "the start", func() bool { return strings.Contains(stderr.String(), "Deployment loop started") }, &stderr)
	stop()
	if code := <-ended; code != exitOK || stdout.String() != "" {
		t.Errorf("got exit code %d and %q on standard output, want 0 and nothing", code, stdout.String())
	}
	for line := range strings.Lines(stderr.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("%q is no object: %v", line, err)
		}
		for _, key := range []string{"ts", "caller", "msg"} {
			if entry[key] == nil {
				t.Errorf("%q has no %q", line, key)
			}
		}
		if entry["v"] == nil && entry["err"] == nil && entry["level"] == nil {
			t.Errorf("%q says neither how detailed nor how bad it is", line)
		}
	}
}

func TestABareAddressIsEnoughOfAConnection(t *testing.T) {
	config, err := mainConfig(mustParse(t, "--master=https://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(config.Host, config.BearerToken, config.Username); got != "https://127.0.0.1:1" {
		t.Errorf("got %s, want the address and nobody's name", got)
	}
}
