package skew

import "sync/atomic"

// TerminatingCount knows whether the API server keeps status.terminatingReplicas. Those of
// 1.34 and older do not, nor do those with the feature gate off. It is safe for concurrent
// use; the zero TerminatingCount believes that the field is kept.
type TerminatingCount struct{ dropped atomic.Bool }

// Wrote notes what came back of a count that was sent with a status. It is sent always, so
// that an API server that was upgraded is noticed.
func (c *TerminatingCount) Wrote(sent, back *int32) {
	if sent != nil {
		c.dropped.Store(back == nil)
	}
}

// ToCompare returns the count by which a new status differs from the reported one. Where the
// API server drops the count, it alone is no reason to write: it would be dropped, and
// written again, without end. A count that is there, from before, is kept right.
func (c *TerminatingCount) ToCompare(reported, count *int32) *int32 {
	if c.dropped.Load() && reported == nil {
		return nil
	}
	return count
}
