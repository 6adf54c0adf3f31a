package replicaset

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// crowd measures how many requests are under way together. Each takes a second of the test's
// own time, so that those begun together end together.
type crowd struct {
	mu          sync.Mutex
	sent        int
	byRoundTrip []int
	begun       time.Time
}

func (c *crowd) request() {
	c.mu.Lock()
	if !time.Now().Equal(c.begun) {
		c.begun = time.Now()
		c.byRoundTrip = append(c.byRoundTrip, 0)
	}
	c.sent++
	c.byRoundTrip[len(c.byRoundTrip)-1]++
	c.mu.Unlock()
	<-time.After(time.Second)
}

func TestTheWindowDoublesWithEachRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		done, err := window{first: 1, most: 8}.run(t.Context(), 30, func(int) (bool, error) {
			c.request()
			return true, nil
		})
		if done != 30 || err != nil {
			t.Errorf("run = %d, %v, want 30 and no error", done, err)
		}
		if diff := cmp.Diff([]int{1, 2, 4, 8, 8, 7}, c.byRoundTrip); diff != "" {
			t.Errorf("requests begun in each round trip (-want +got):\n%s", diff)
		}
	})
}

func TestAFailureStopsTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		seventh := errors.New("slot 6")
		done, err := window{first: 1, most: 64}.run(t.Context(), 500, func(slot int) (bool, error) {
			if slot == 6 {
				return false, seventh // at once, while slots 3 to 5 are under way
			}
			c.request()
			return true, nil
		})
		if done != 6 || !errors.Is(err, seventh) {
			t.Errorf("run = %d, %v, want 6 and the failure", done, err)
		}
		if c.sent != 6 {
			t.Errorf("%d other requests were sent, want the 6 before it", c.sent)
		}
	})
}

func TestOfManyFailuresTheLowestSlotsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := []error{errors.New("0"), errors.New("1"), errors.New("2")}
		done, err := window{first: 3, most: 3}.run(t.Context(), 3, func(slot int) (bool, error) {
			<-time.After(time.Duration(3-slot) * time.Second) // the last one is answered first
			return false, errs[slot]
		})
		if done != 0 || !errors.Is(err, errs[0]) {
			t.Errorf("run = %d, %v, want 0 and the failure of slot 0", done, err)
		}
	})
}

func TestWhatHadNoEffectIsNotCounted(t *testing.T) {
	done, err := window{first: 2, most: 2}.run(t.Context(), 10, func(slot int) (bool, error) {
		return slot < 4, nil
	})
	if done != 4 || err != nil {
		t.Errorf("run = %d, %v, want 4 and no error", done, err)
	}
}

func TestNothingIsBegunOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done, err := window{first: 1, most: 1}.run(ctx, 10, func(slot int) (bool, error) {
		if slot == 2 {
			cancel()
		}
		return true, nil
	})
	if done != 3 || err != nil {
		t.Errorf("run = %d, %v, want 3 and no error", done, err)
	}
}

func TestNoRequestsAtAll(t *testing.T) {
	if done, err := (window{first: 1, most: widest}).run(t.Context(), 0, nil); done != 0 || err != nil {
		t.Errorf("run = %d, %v, want 0 and no error", done, err)
	}
}

func TestAPanicGoesOnInTheCallerOnceAllHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		defer func() {
			fault, _ := recover().(string)
			if !strings.Contains(fault, "slot 1") || !strings.Contains(fault, "pace_test.go") {
				t.Errorf("panic %q, want that of the request, with its stack", fault)
			}
			if c.sent != 3 {
				t.Errorf("%d requests were sent, want the 3 that were under way", c.sent)
			}
		}()
		_, _ = window{first: 3, most: 3}.run(t.Context(), 10, func(slot int) (bool, error) {
			c.request()
			if slot == 1 {
				panic("slot 1")
			}
			<-time.After(time.Second)
			return true, nil
		})
	})
}
