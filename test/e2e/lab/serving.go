package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"controller-manager/localcluster"
)

// FreePort finds a port of 127.0.0.1 that nobody listens on.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("giving a free port back: %w", err)
	}
	return port, nil
}

// LocalAddress is a port of this machine.
func LocalAddress(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// isReady returns a probe of a program. Its certificate is made at each start and known to
// nobody, so it is not checked.
func isReady(url string) func(context.Context) error {
	return localcluster.HTTPProbe(url+"/readyz", &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // see above
}
