package proxy

import (
	"context"
	"sync"
)

// Gate is what an answer that is held waits for. The zero Gate is open. Its methods may be
// called from any goroutine, and again.
type Gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed when it opens; nil while it is open
}

// Shut lets nothing through from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

// Open lets everything through that waits, and all that comes.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

// pass waits until the gate is open, or until the context ends.
func (g *Gate) pass(ctx context.Context) error {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	if opened == nil {
		return nil
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
