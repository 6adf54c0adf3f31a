package worker

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestBackoff(t *testing.T) {
	var backoff Backoff
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	other := types.NamespacedName{Name: "other"}
	if left := backoff.Left(key, "a", now); left != 0 {
		t.Errorf("waits %s before anything was refused", left)
	}
	for i, want := range []time.Duration{firstRetry, 2 * firstRetry, 4 * firstRetry} {
		backoff.Refused(key, "a", now)
		if left := backoff.Left(key, "a", now); left != want {
			t.Errorf("after refusal %d it waits %s, want %s", i+1, left, want)
		}
	}
	for range 100 {
		backoff.Refused(key, "a", now)
	}
	for what, got := range map[string][2]time.Duration{
		"the wait has a longest":            {backoff.Left(key, "a", now), 30 * time.Second},
		"it gets shorter with time":         {backoff.Left(key, "a", now.Add(time.Second)), 29 * time.Second},
		"and ends":                          {backoff.Left(key, "a", now.Add(time.Hour)), 0},
		"something else need not wait":      {backoff.Left(key, "b", now), 0},
		"nor need another key":              {backoff.Left(other, "a", now), 0},
		"what is refused anew starts short": {leftAfter(&backoff, other, now), firstRetry},
	} {
		t.Run(what, func(t *testing.T) {
			if got[0] != got[1] {
				t.Errorf("%s, want %s", got[0], got[1])
			}
		})
	}
	backoff.Refused(key, "b", now)
	if left := backoff.Left(key, "b", now); left != firstRetry {
		t.Errorf("a changed object waits %s", left)
	}
	backoff.Forget(key)
	if left := backoff.Left(key, "b", now); left != 0 {
		t.Errorf("waits %s after it worked", left)
	}
}

func leftAfter(backoff *Backoff, key types.NamespacedName, now time.Time) time.Duration {
	backoff.Refused(key, "a", now)
	return backoff.Left(key, "a", now)
}
