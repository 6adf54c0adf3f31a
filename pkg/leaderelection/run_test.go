package leaderelection

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	stopTimeout   = 10 * time.Second
)

// process is one candidate under test.
type process struct {
	config Config
	fence  *Fence
	log    ktesting.Underlier
	stop   context.CancelFunc
	ended  chan error
}

// start runs a candidate until stop is called.
func start(t *testing.T, api *server, identity string, lead func(context.Context)) *process {
	t.Helper()
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(2)))
	log, ok := logger.GetSink().(ktesting.Underlier)
	if !ok {
		t.Fatal("the test logger keeps no lines")
	}
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logger))
	p := &process{
		fence: NewFence(), log: log, stop: stop, ended: make(chan error, 1),
	}
	p.config = Config{
		Client: api, Namespace: "kube-system", Name: "controller-manager", Identity: identity,
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		StopTimeout: stopTimeout, Fence: p.fence,
		Watchdog: leaderelection.NewLeaderHealthzAdaptor(0),
	}
	go func() { p.ended <- Run(ctx, p.config, lead) }()
	return p
}

// lines returns the messages of the process's log.
func (p *process) lines() []string {
	var messages []string
	for _, entry := range p.log.GetBuffer().Data() {
		messages = append(messages, entry.Message)
	}
	return messages
}

// untilTold is work that ends as soon as it is told to.
func untilTold(ctx context.Context) { <-ctx.Done() }

func TestTheLeaseIsKeptUntilTheWorkHasEndedAndThenReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		p := start(t, api, "me", func(ctx context.Context) {
			<-ctx.Done()
			pass(5 * time.Second) // a sync that was under way
			if got := api.holder(); got != "me" {
				t.Errorf("during the last sync the lease was held by %q", got)
			}
			if age := time.Since(api.state().Spec.RenewTime.Time); age > retryPeriod {
				t.Errorf("during the last sync the lease was last renewed %s ago", age)
			}
		})
		pass(time.Minute)
		p.stop()
		if err := <-p.ended; err != nil {
			t.Errorf("got error %v, want a clean end", err)
		}
		if got := api.holder(); got != "" {
			t.Errorf("the lease is held by %q, want it released", got)
		}
		if err := p.fence.Check(); err == nil {
			t.Error("the fence is open after the end")
		}
		want := []string{"Became the leader", "Released the lease"}
		if diff := cmp.Diff(want, p.lines()); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestWorkThatEndsByItselfReleasesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		p := start(t, api, "me", func(context.Context) {})
		defer p.stop()
		if err := <-p.ended; err != nil {
			t.Errorf("got error %v, want a clean end", err)
		}
		if got := api.holder(); got != "" {
			t.Errorf("the lease is held by %q, want it released", got)
		}
	})
}

func TestALeaseThatCannotBeRenewedEndsTheWorkAtTheRenewDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		var told time.Time
		p := start(t, api, "me", func(ctx context.Context) {
			<-ctx.Done()
			told = time.Now()
		})
		defer p.stop()
		pass(time.Minute)
		synctest.Wait()
		api.fail(errors.New("no route"), "get", "update")
		renewed := api.state().Spec.RenewTime.Time

		err := <-p.ended
		if !errors.Is(err, ErrLost) {
			t.Errorf("got error %v, want ErrLost", err)
		}
		if took := told.Sub(renewed).Round(time.Millisecond); took != renewDeadline {
			t.Errorf("the work was told to end %s after the last renewal, want %s", took, renewDeadline)
		}
		if got := api.holder(); got != "me" {
			t.Errorf("the lease is held by %q: it must expire, not be released, when it was lost", got)
		}
	})
}

func TestALeaseThatWasLostIsNotWonAgainWhileTheWorkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		p := start(t, api, "me", func(ctx context.Context) {
			<-ctx.Done()
			api.fail(nil)
			api.steal("") // another has led meanwhile, and has released it
			pass(stopTimeout - time.Second)
		})
		defer p.stop()
		pass(time.Minute)
		api.fail(errors.New("no route"), "get", "update")
		if err := <-p.ended; !errors.Is(err, ErrLost) || errors.Is(err, ErrStuck) {
			t.Errorf("got error %v, want ErrLost and not ErrStuck", err)
		}
		if got := api.holder(); got != "" {
			t.Errorf("the lease is held by %q, want it left free", got)
		}
	})
}

func TestALeaseTakenByAnotherEndsTheWorkWithTheNextRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		p := start(t, api, "me", untilTold)
		defer p.stop()
		pass(time.Minute)
		synctest.Wait()
		api.steal("thief")
		at := time.Now()
		if err := <-p.ended; !errors.Is(err, ErrLost) {
			t.Errorf("got error %v, want ErrLost", err)
		}
		if took := time.Since(at); took > retryPeriod {
			t.Errorf("it took %s to notice, want at most %s", took, retryPeriod)
		}
	})
}

func TestWorkThatDoesNotEndLeavesTheLeaseToExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		release := make(chan struct{})
		p := start(t, api, "me", func(context.Context) { <-release })
		pass(time.Minute)
		p.stop()
		told := time.Now()
		if err := <-p.ended; !errors.Is(err, ErrStuck) || errors.Is(err, ErrLost) {
			t.Errorf("got error %v, want ErrStuck and not ErrLost", err)
		}
		if took := time.Since(told); took != stopTimeout {
			t.Errorf("it waited %s, want %s", took, stopTimeout)
		}
		if got := api.holder(); got != "me" {
			t.Errorf("the lease is held by %q, want it left to expire", got)
		}
		if err := p.fence.Check(); err == nil {
			t.Error("the fence is open after the end")
		}
		close(release)
	})
}

func TestTroubleWithTheLeaseIsSaidNowAndThen(t *testing.T) {
	forbidden := apierrors.NewForbidden(coordinationv1.Resource("leases"), "controller-manager", errors.New("no role"))
	tests := map[string]struct {
		err   error
		verbs []string
		want  string
	}{
		"a lease that must not be read":    {forbidden, []string{"get"}, "Cannot read the lease, will retry"},
		"a lease that must not be created": {forbidden, []string{"create"}, "Cannot write the lease, will retry"},
		"a server that does not answer":    {errors.New("timeout"), []string{"get"}, "Cannot read the lease, will retry"},
		"another who was faster": {apierrors.NewAlreadyExists(coordinationv1.Resource("leases"), "x"),
			[]string{"create"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := newServer(t, nil)
				api.fail(test.err, test.verbs...)
				p := start(t, api, "me", untilTold)
				pass(time.Minute)
				p.stop()
				<-p.ended
				lines := p.lines()
				if test.want == "" {
					if len(lines) > 0 {
						t.Errorf("got %q, want nothing", lines)
					}
					return
				}
				if len(lines) < 4 || len(lines) > 8 {
					t.Errorf("got %d lines in a minute, want about one in 10 s: %q", len(lines), lines)
				}
				for _, line := range lines {
					if line != test.want {
						t.Errorf("got line %q, want %q", line, test.want)
					}
				}
			})
		})
	}
}

func TestAReleaseThatFailsIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		p := start(t, api, "me", untilTold)
		pass(time.Second)
		synctest.Wait()
		api.fail(errors.New("no route"), "update")
		p.stop()
		if err := <-p.ended; err != nil {
			t.Errorf("got error %v, want a clean end: the work has ended", err)
		}
		lines := p.lines()
		if last := lines[len(lines)-1]; last != "Could not release the lease, it will expire by itself" {
			t.Errorf("the last line is %q", last)
		}
	})
}

func TestTheWatchdogBarksWhenALeaseIsNeitherRenewedNorGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		release := make(chan struct{})
		p := start(t, api, "me", func(context.Context) { <-release })
		defer p.stop()
		pass(time.Second)
		if err := p.config.Watchdog.Check(nil); err != nil {
			t.Errorf("got %v from a healthy leader", err)
		}
		api.fail(errors.New("no route"), "get", "update")
		pass(leaseDuration + time.Second)
		if err := p.config.Watchdog.Check(nil); err == nil {
			t.Error("got nothing from a leader whose lease has expired")
		}
		close(release)
		if err := <-p.ended; !errors.Is(err, ErrLost) {
			t.Errorf("got error %v, want ErrLost", err)
		}
	})
}

func TestDurationsThatCannotWorkAreRefused(t *testing.T) {
	config := Config{
		Client: newServer(t, nil), Namespace: "kube-system", Name: "x", Identity: "me",
		LeaseDuration: time.Second, RenewDeadline: time.Second, RetryPeriod: time.Second, Fence: NewFence(),
	}
	err := Run(t.Context(), config, func(context.Context) { t.Error("it led") })
	if err == nil {
		t.Error("got no error for a renew deadline as long as the lease")
	}
}
