package simulation

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"controller-manager/pkg/leaderelection"
)

// fault is what goes wrong with one request.
type fault uint8

// What can go wrong with a request. The first ones come before it has any effect, the others
// after; of some nobody can tell which.
const (
	noFault         fault = iota
	conflict              // answered 409
	tooManyRequests       // answered 429
	serverError           // answered 500
	forbidden             // answered 403
	noConnection          // never sent
	crashBefore           // the process dies with the request unsent
	lostAnswer            // carried out, and the connection broke before the answer
	gatewayTimeout        // carried out, and answered 504
	late                  // the connection breaks, and the request is carried out later on
	crashInFlight         // the process dies, and the request is carried out later on
	crashAfter            // carried out, and the process dies before it hears of it
	numberOfFaults
)

func (f fault) String() string {
	return [numberOfFaults]string{
		"no fault", "conflict", "too many requests", "server error", "forbidden", "no connection", "crash before a request",
		"lost answer", "gateway timeout", "late effect", "crash with a request in flight", "crash after a request",
	}[f]
}

var errBroken = errors.New("connection reset by peer")

// errGone is what a process that has died gets to hear. Nobody listens.
var errGone = errors.New("the process is gone")

// connection carries the requests of one loop of one process to the API server.
type connection struct {
	world   *World
	process *process
	sync    *syncing // in whose course the requests are made
}

// ahead is something that a request soon to be made will meet.
type ahead struct {
	what int // 0 for nothing
	skip int // how many requests do not meet it yet
}

// met returns what a request meets, and then no other one will.
func (a *ahead) met() int {
	if a.what == 0 {
		return 0
	}
	if a.skip > 0 {
		a.skip--
		return 0
	}
	what := a.what
	a.what = 0
	return what
}

// request is one request to the API server, with all that can happen on its way.
func (c *connection) request(does string, write bool, do func() error) error {
	switch {
	case c.process.gone:
		return errGone
	case write && c.process.fenced:
		return leaderelection.ErrFenced
	}
	if f := c.world.trouble.met(); f > 0 {
		return c.troubled(does, write, do, fault(f))
	}
	// On its way while other things happen: then it is carried out whatever has become of
	// the process.
	c.world.meanwhile(c.world.between.met())
	err := do()
	if c.process.gone {
		return errGone
	}
	return err
}

// troubled is a request that a fault meets.
func (c *connection) troubled(does string, write bool, do func() error, f fault) error {
	c.world.count(f)
	c.world.tell("fault", "%s meets: %s", does, f)
	switch f {
	case conflict:
		return apierrors.NewConflict(schema.GroupResource{}, does, errors.New("somebody was faster"))
	case tooManyRequests:
		return apierrors.NewTooManyRequests("try again later", 1)
	case serverError:
		return apierrors.NewInternalError(errors.New("no leader of etcd"))
	case forbidden:
		return apierrors.NewForbidden(schema.GroupResource{}, does, errors.New("a webhook says no"))
	case crashBefore:
		c.process.gone = true
		return errGone
	case noConnection:
		return fmt.Errorf("sending: %w", errBroken)
	case late, crashInFlight:
		if write {
			c.world.inFlight = append(c.world.inFlight, do)
		}
		c.process.gone = f == crashInFlight
		return fmt.Errorf("reading the answer: %w", errBroken)
	}
	if err := do(); err != nil {
		return err
	}
	switch f {
	case gatewayTimeout:
		return apierrors.NewTimeoutError("the request has not been answered in time", 0)
	case crashAfter:
		c.process.gone = true
	}
	return fmt.Errorf("reading the answer: %w", errBroken)
}
