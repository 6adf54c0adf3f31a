package leaderelection

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestAStandbyActsAtOnceWhenTheLeaseIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		first := start(t, api, "first", untilTold)
		synctest.Wait()
		var leads atomic.Bool
		second := start(t, api, "second", func(ctx context.Context) {
			leads.Store(true)
			<-ctx.Done()
		})
		pass(time.Hour)
		if leads.Load() {
			t.Error("the standby led beside the leader")
		}
		first.stop()
		if err := <-first.ended; err != nil {
			t.Error(err)
		}
		synctest.Wait() // without letting time pass
		if !leads.Load() {
			t.Error("the standby does not lead, want it to act at once")
		}
		second.stop()
		if err := <-second.ended; err != nil {
			t.Error(err)
		}
		want := []string{"Another process leads, standing by", "Became the leader", "Released the lease"}
		if diff := cmp.Diff(want, second.lines()); diff != "" {
			t.Errorf("log of the standby (-want +got):\n%s", diff)
		}
	})
}

func TestALeaseThatIsReleasedBeforeItIsWatchedIsTakenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		first := start(t, api, "first", untilTold)
		synctest.Wait()
		watchable := make(chan struct{})
		api.beforeWatch(func() { <-watchable })
		var leads atomic.Bool
		second := start(t, api, "second", func(ctx context.Context) {
			leads.Store(true)
			<-ctx.Done()
		})
		synctest.Wait() // until the standby has seen who leads
		first.stop()
		if err := <-first.ended; err != nil {
			t.Error(err)
		}
		close(watchable)
		synctest.Wait() // without letting time pass
		if !leads.Load() {
			t.Error("the standby does not lead, want it to act at once")
		}
		second.stop()
		if err := <-second.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAStandbyTakesOverFromALeaderThatVanished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := metav1.NewMicroTime(time.Now())
		api := newServer(t, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "controller-manager"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("gone"), LeaseDurationSeconds: ptr.To(int32(leaseDuration.Seconds())),
				RenewTime: &now, AcquireTime: &now, LeaseTransitions: ptr.To(int32(0)),
			},
		})
		begun := time.Now()
		var after time.Duration
		p := start(t, api, "me", func(context.Context) { after = time.Since(begun) })
		defer p.stop()
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
		if after < leaseDuration || after > leaseDuration+3*time.Second+retryPeriod {
			t.Errorf("took over after %s, want it soon after %s and not before", after, leaseDuration)
		}
	})
}

func TestAStandbyThatIsStoppedNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, nil)
		first := start(t, api, "first", untilTold)
		synctest.Wait()
		second := start(t, api, "second", func(context.Context) { t.Error("the standby led") })
		pass(time.Minute)
		second.stop()
		if err := <-second.ended; err != nil {
			t.Error(err)
		}
		if got := api.holder(); got != "first" {
			t.Errorf("the lease is held by %q, want first", got)
		}
		first.stop()
		<-first.ended
	})
}
