package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// patience bounds every wait. It is long, so that a busy machine fails no step.
	patience = 4 * time.Minute
	// pollPeriod is how often something is looked at.
	pollPeriod = 200 * time.Millisecond
)

// step is a claim, and how it is shown to be so.
type step struct {
	claim string
	show  func(*scene, context.Context) error
}

// scene is a step while it is shown: the machine, and the transcript.
type scene struct {
	*machine
	transcript strings.Builder
}

// pass goes through a step.
func (m *machine) pass(ctx context.Context, step step) result {
	began := time.Now()
	s := &scene{machine: m}
	err := step.show(s, ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx)) // what has died, perhaps
	}
	if err != nil && ctx.Err() == nil {
		_, problem := s.kubectl(ctx, "get", "events", "--all-namespaces") // the kubelet says there what it waits for
		err = errors.Join(err, problem)
	}
	r := result{claim: step.claim, err: err, took: time.Since(began), transcript: s.transcript.String()}
	m.options.Log("%s", r.line())
	return r
}

// note adds a line to the transcript that no command has printed.
func (s *scene) note(format string, args ...any) {
	fmt.Fprintf(&s.transcript, "# "+format+"\n", args...)
}

// kubectl runs a command and adds it to the transcript, with what it prints.
func (s *scene) kubectl(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took longer than %s", patience))
	defer cancel()
	output, err := s.cluster.Kubectl(ctx, args...)
	fmt.Fprintf(&s.transcript, "$ kubectl %s\n%s", strings.Join(args, " "), output)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return output, err
}

// all runs steps of a step, until one fails.
func (s *scene) all(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await looks at something until nothing is missing, and tells how long that took.
func (s *scene) await(ctx context.Context, what string, missing func(context.Context) error) error {
	began := time.Now()
	var left error
	err := wait.PollUntilContextTimeout(ctx, pollPeriod, patience, true, func(ctx context.Context) (bool, error) {
		now := missing(ctx)
		if ctx.Err() == nil || left == nil {
			left = now // else it only says that the time is up
		}
		return now == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w; last seen: %w", what, err, left)
	}
	s.note("%s: after %.1f s", what, time.Since(began).Seconds())
	return nil
}

// hasAll is an error if a text lacks one of some parts.
func hasAll(text string, parts []string) error {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return fmt.Errorf("there is no %s", part)
		}
	}
	return nil
}

// linesWith are those lines of a text that have one of some parts.
func linesWith(text string, parts []string) string {
	var found strings.Builder
	for line := range strings.Lines(text) {
		for _, part := range parts {
			if strings.Contains(line, part) {
				found.WriteString(line)
				break
			}
		}
	}
	return found.String()
}
