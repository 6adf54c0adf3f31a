package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// process is the life of the process, against an API server of httptest.
type process struct {
	t     *testing.T
	port  string
	stop  context.CancelFunc
	log   ktesting.Buffer
	ended chan error
}

// startProcess runs a process until it is stopped.
func startProcess(t *testing.T, server *apiServer, args ...string) *process {
	t.Helper()
	logger, log := bufferedLogger(t)
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logger))
	t.Cleanup(stop)
	p := &process{t: t, port: freePort(t), stop: stop, log: log, ended: make(chan error, 1)}
	options := mustParse(t, append([]string{
		"--kubeconfig=" + server.kubeconfig(), "--secure-port=" + p.port,
		"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=100ms",
	}, args...)...)
	go func() { p.ended <- run(ctx, options) }()
	return p
}

// lines returns the messages of the log.
func (p *process) lines() []string {
	var messages []string
	for _, entry := range p.log.Data() {
		messages = append(messages, entry.Message)
	}
	return messages
}

// await waits for something to become true, and for a minute at most.
func await(t *testing.T, what string, is func() bool, log fmt.Stringer) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s; log:\n%s", what, log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// awaitLine waits for a message in the log.
func (p *process) awaitLine(message string) {
	p.t.Helper()
	await(p.t, "log line "+message, func() bool { return slices.Contains(p.lines(), message) }, p.log)
}

// ask returns the code and the body of an answer of the process's port.
func (p *process) ask(path string) (int, string) {
	p.t.Helper()
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	return get(p.t, client, "https://127.0.0.1:"+p.port+path)
}

// end waits for the end, and returns with what error it came.
func (p *process) end() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(time.Minute):
		p.t.Fatalf("the process does not end; log:\n%s", p.log.String())
		return nil
	}
}

func TestALifeOfTheProcess(t *testing.T) {
	server := newAPIServer(t)
	p := startProcess(t, server, "--concurrent-deployment-syncs=3", "--concurrent-replicaset-syncs=4")
	p.awaitLine("ReplicaSet loop started")
	p.awaitLine("Deployment loop started")
	for _, line := range []string{"Deployment loop started workers=3\n", "ReplicaSet loop started workers=4\n"} {
		if !strings.Contains(p.log.String(), line) {
			t.Errorf("no line %q in the log:\n%s", line, p.log.String())
		}
	}
	if holder := server.holder(); !strings.Contains(holder, "_") {
		t.Errorf("the lease is held by %q, want host_uuid", holder)
	}
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		if code, body := p.ask(path); code != http.StatusOK || body != "ok" {
			t.Errorf("%s: got %d and %q, want 200 and ok", path, code, body)
		}
	}
	p.stop()
	if err := p.end(); err != nil {
		t.Errorf("got error %v, want an orderly end", err)
	}
	if holder := server.holder(); holder != "" {
		t.Errorf("the lease is held by %q, want it released", holder)
	}
	lines := p.lines()
	order := []string{
		"Starting controller-manager", "Caches are filled", "Became the leader",
		"Deployment loop started", "Deployment loop stopped", "Released the lease",
	}
	for n := 1; n < len(order); n++ {
		if slices.Index(lines, order[n-1]) >= slices.Index(lines, order[n]) {
			t.Errorf("%q does not come before %q in %q", order[n-1], order[n], lines)
		}
	}
}

func TestAStandbyIsReadyAndDoesNothing(t *testing.T) {
	server := newAPIServer(t)
	first := startProcess(t, server)
	first.awaitLine("Became the leader")
	second := startProcess(t, server)
	second.awaitLine("Another process leads, standing by")
	if code, body := second.ask("/readyz"); code != http.StatusOK {
		t.Errorf("readyz of the standby: got %d and %q, want 200", code, body)
	}
	second.stop()
	if err := second.end(); err != nil {
		t.Errorf("the standby ended with error %v, want an orderly end", err)
	}
	if slices.Contains(second.lines(), "Deployment loop started") {
		t.Error("a loop was started in the standby")
	}
	if server.holder() == "" {
		t.Error("the standby released the leader's lease")
	}
	first.stop()
	if err := first.end(); err != nil {
		t.Errorf("the leader ended with error %v, want an orderly end", err)
	}
}

func TestWithoutLeaderElectionThereIsNoLease(t *testing.T) {
	server := newAPIServer(t)
	p := startProcess(t, server, "--leader-elect=false", "--controllers=replicaset")
	p.awaitLine("ReplicaSet loop started")
	p.stop()
	if err := p.end(); err != nil {
		t.Errorf("got error %v, want an orderly end", err)
	}
	if slices.Contains(p.lines(), "Deployment loop started") {
		t.Error("the Deployment loop was started, and only the other one was asked for")
	}
	if got := server.seen("main GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/controller-manager"); got > 0 {
		t.Errorf("the lease was read %d times", got)
	}
}

func TestALostLeaseEndsTheProcessWithOneLine(t *testing.T) {
	server := newAPIServer(t)
	p := startProcess(t, server)
	p.awaitLine("Became the leader")
	server.refuse(func(r *http.Request) *metav1.Status {
		if strings.Contains(r.URL.Path, "/leases") {
			return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError}
		}
		return nil
	})
	err := p.end()
	if err == nil {
		t.Fatal("got no error")
	}
	isOneLine(t, oneLine(err)+"\n", "kube-system/controller-manager", "the lease was lost", "2s")
	if server.holder() == "" {
		t.Error("the lease was released, want it left to expire")
	}
}

func TestWithoutItsServiceAccountsALeaderEndsWithOneLineAndGivesTheLeaseBack(t *testing.T) {
	server := newAPIServer(t)
	server.refuse(func(r *http.Request) *metav1.Status {
		if strings.HasSuffix(r.URL.Path, "/token") {
			return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "you may not"}
		}
		return nil
	})
	err := startProcess(t, server, "--use-service-account-credentials").end()
	if err == nil {
		t.Fatal("got no error")
	}
	isOneLine(t, oneLine(err)+"\n", "kube-system/deployment-controller", "you may not", "leave it out")
	if holder := server.holder(); holder != "" {
		t.Errorf("the lease is still held by %s", holder)
	}
}

func TestWhileTheAPIServerIsAwaitedTheProcessIsAliveAndNotReady(t *testing.T) {
	server := newAPIServer(t)
	server.refuse(func(*http.Request) *metav1.Status {
		return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable}
	})
	p := startProcess(t, server)
	p.awaitLine("Waiting for the API server")
	if code, _ := p.ask("/livez"); code != http.StatusOK {
		t.Errorf("livez: got %d, want 200", code)
	}
	if code, body := p.ask("/readyz"); code != http.StatusInternalServerError || !strings.Contains(body, "caches") {
		t.Errorf("readyz: got %d and %q, want 500 and the caches named", code, body)
	}
	server.refuse(nil)
	p.awaitLine("Became the leader")
	p.stop()
	if err := p.end(); err != nil {
		t.Errorf("got error %v, want an orderly end", err)
	}
}

func TestAProcessThatIsToldToStopBeforeItBeginsEndsWell(t *testing.T) {
	server := newAPIServer(t)
	server.refuse(func(*http.Request) *metav1.Status {
		return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable}
	})
	p := startProcess(t, server)
	p.awaitLine("Waiting for the API server")
	p.stop()
	if err := p.end(); err != nil {
		t.Errorf("got error %v, want an orderly end", err)
	}
}

func TestWhatKeepsTheProcessFromStartingIsOneLine(t *testing.T) {
	tests := map[string]struct {
		args  []string
		words []string
	}{
		"a kubeconfig that is not there": {[]string{"--kubeconfig=/does/not/exist"}, []string{"/does/not/exist"}},
		"a certificate that is not there": {[]string{"--master=https://127.0.0.1:1", "--tls-cert-file=/no/cert",
			"--tls-private-key-file=/no/key"}, []string{"/no/cert"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := Main(t.Context(), test.args, &stdout, &stderr); code != exitFailed {
				t.Errorf("got exit code %d, want %d", code, exitFailed)
			}
			isOneLine(t, stderr.String(), append(test.words, "controller-manager: ")...)
		})
	}
}
