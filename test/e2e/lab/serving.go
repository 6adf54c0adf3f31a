package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
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

// askReady asks a program whether it is ready. Its certificate is made at each start
// and known to nobody, so it is not checked.
func askReady(ctx context.Context, url string) error {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} //nolint:gosec // see above
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode == http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("reading the answer about readiness: %w", err)
	}
	return fmt.Errorf("/readyz answered %s: %s", response.Status, body)
}
