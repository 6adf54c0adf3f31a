package replicaset

import (
	"context"
	"fmt"
	"runtime/debug"
)

// window bounds how many requests of one sync are under way at once. It opens by one with
// each answer, so the number doubles with each round trip. Once one request fails no more
// are begun: a template that cannot be created costs a handful of requests, not 500.
type window struct {
	first int // how many requests are begun before the first answer
	most  int // how far it opens
}

// The widest window is what a client needs in flight to keep an API server busy; more only
// makes each request slower.
const widest = 64

// creating starts with one request, because the first Pod of a template shows whether any can
// be created. Deletes have no such common cause to fail.
func (c *Controller) creating() window { return window{first: 1, most: c.atOnce} }
func (c *Controller) deleting() window { return window{first: c.atOnce, most: c.atOnce} }

// answer is what came of one request.
type answer struct {
	slot  int
	done  bool
	err   error
	panic any
}

// run calls send for the slots 0 to count-1, each in a goroutine of its own, and returns
// once all that were begun have ended: how many took effect, and the error of the lowest
// slot that failed. No request is begun once the context has ended; that is no error here.
// A panic in send goes on in the caller.
func (w window) run(ctx context.Context, count int, send func(slot int) (done bool, err error)) (done int, err error) {
	answers := make(chan answer)
	open, begun, underWay, failed := w.first, 0, 0, count
	var fault any
	for {
		for underWay < open && begun < count && failed == count && fault == nil && ctx.Err() == nil {
			go func(slot int) { answers <- ask(slot, send) }(begun)
			begun++
			underWay++
		}
		if underWay == 0 {
			break
		}
		got := <-answers
		underWay--
		switch {
		case got.panic != nil:
			fault = got.panic
		case got.err != nil && got.slot < failed:
			failed, err = got.slot, got.err
		case got.err == nil:
			open = min(open+1, w.most)
		}
		if got.done {
			done++
		}
	}
	if fault != nil {
		panic(fault)
	}
	return done, err
}

// ask makes one request and catches its panic, which would end the process otherwise.
func ask(slot int, send func(int) (bool, error)) (got answer) {
	defer func() {
		if fault := recover(); fault != nil {
			got = answer{slot: slot, panic: fmt.Sprintf("%v\n%s", fault, debug.Stack())}
		}
	}()
	done, err := send(slot)
	return answer{slot: slot, done: done, err: err}
}
