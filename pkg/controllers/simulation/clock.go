package simulation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clock is the time of a world. It stands still unless the schedule moves it, and never
// goes back; what goes wrong with clocks is in the offset that each process adds to it.
type clock struct{ elapsed time.Duration }

// epoch is when every world begins. Not at a whole second, so that what is written with whole
// seconds differs from what is compared with them.
func epoch() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 700_000_000, time.UTC) }

// Now is the time by the API server's clock, and by a clock that is right.
func (c *clock) Now() time.Time { return epoch().Add(c.elapsed) }

// stamp is the time as objects hold it, in whole seconds.
func (c *clock) stamp() metav1.Time { return metav1.NewTime(c.Now().Truncate(time.Second)) }

// wallClock is the clock of one process: it may be wrong, and jump.
type wallClock struct {
	*clock
	offset time.Duration
	jumps  int // how often it was set
}

// set lets the clock jump.
func (c *wallClock) set(offset time.Duration) {
	c.offset = offset
	c.jumps++
}

func (c *wallClock) Now() time.Time { return c.clock.Now().Add(c.offset) }

func (c *wallClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
