package telling

import "time"

const (
	// Singles is how many things about one object are told one by one in a burst: about as many
	// as users see of the built-in loops.
	Singles = 26
	// refill is how long it takes until one more may be told by itself.
	refill = 10 * time.Second
	// quiet is how long nothing more may happen until a burst counts as over.
	quiet = time.Second
	// longest is how long something that happened is kept, and how far apart sums are unless
	// something would be kept for longer.
	longest = 10 * time.Second
)

// pace says what of the things that happen to one object is told by itself, and when the
// others are. The zero pace is that of an object of which nothing was told yet.
type pace struct {
	full   time.Time // when as many as Singles may be told one by one again
	first  time.Time // when the first thing happened that is kept; zero if nothing is kept
	last   time.Time // when the last one did
	summed time.Time // when things that were kept were told last
}

// single reports whether what happens now is told by itself, and counts it. While others are
// kept, none is: they are told in order.
func (p *pace) single(now time.Time) bool {
	if !p.first.IsZero() {
		return false
	}
	if most := now.Add(Singles * refill); p.full.After(most) {
		p.full = most // the clock was put back
	}
	missing := max(0, p.full.Sub(now))
	if missing > (Singles-1)*refill {
		return false
	}
	p.full = now.Add(missing + refill)
	return true
}

// keep notes that something happens now that is told later.
func (p *pace) keep(now time.Time) {
	if p.first.IsZero() {
		p.first = now
	}
	p.last = now
}

// left returns how long it is until what is kept is told; 0 if it is now.
func (p *pace) left(now time.Time) time.Duration {
	if now.Before(p.first) { // a clock that was put back
		return 0
	}
	due := p.last.Add(quiet)
	if next := p.summed.Add(longest); next.After(due) {
		due = next
	}
	if latest := p.first.Add(longest); latest.Before(due) {
		due = latest
	}
	return max(0, due.Sub(now))
}

// told notes that what was kept has been told.
func (p *pace) told(now time.Time) {
	p.first, p.last, p.summed = time.Time{}, time.Time{}, now
}
