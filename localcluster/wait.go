package localcluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// pollPeriod is how often a condition is looked at.
	pollPeriod = 50 * time.Millisecond
	// probeTimeout bounds one look, so that a frozen server is asked again.
	probeTimeout = 5 * time.Second
)

// waitFor looks at a condition until it holds (nil) or ctx ends. The error names
// what was waited for and what was still missing.
func waitFor(ctx context.Context, what string, probe func(context.Context) error) error {
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
		missing := probe(probeCtx)
		cancel()
		if missing == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (last seen: %w)", what, context.Cause(ctx), missing)
		case <-ticker.C:
		}
	}
}

// HTTPProbe returns what Command.Ready needs of a program that answers 200 at url once it is ready.
func HTTPProbe(url string, config *tls.Config) func(context.Context) error {
	// A connection of its own for each look: one that was open to a process
	// which has been killed is of no use.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("making a request for %s: %w", url, err)
		}
		response, err := client.Do(request)
		if err != nil {
			return fmt.Errorf("asking for readiness: %w", err)
		}
		defer func() { _ = response.Body.Close() }() // it was only read
		if response.StatusCode == http.StatusOK {
			return nil
		}
		body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		if err != nil {
			return fmt.Errorf("reading the answer of %s: %w", url, err)
		}
		return fmt.Errorf("%s answered %s: %s", url, response.Status, body)
	}
}
