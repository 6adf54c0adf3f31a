package localcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports are taken from below the range that Linux (32768 and up) and macOS
// (49152 and up) draw from for outgoing connections. A component that is down
// for a while, as in a fault test, would otherwise lose its port to one of the
// many connections that the others make.
const (
	firstPort = 20000
	lastPort  = 32000
)

const portTries = 1000

// freePorts returns n different ports on 127.0.0.1 that nobody listens on.
// Another program may still take one before it is used: Start then tries again
// with other ports.
func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	for range portTries {
		if len(ports) == n {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // no secret hangs on it
		listener, err := listen(port)
		if err != nil {
			return nil, err
		}
		if listener == nil {
			continue
		}
		// It stays open until all are found, so that no port is found twice.
		defer func() { _ = listener.Close() }()
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("found no %d free ports on 127.0.0.1 between %d and %d; stop some programs that listen there", n, firstPort, lastPort)
}

// listen returns nil if somebody listens on the port.
func listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", hostPort(port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for a free port: %w", err)
	default:
		return listener, nil
	}
}

// FreePort returns a port on 127.0.0.1 that nobody listens on, for a program
// that is started beside a cluster.
func FreePort() (int, error) {
	ports, err := freePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

func hostPort(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
