package worker

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestBackoff(t *testing.T) {
	var backoff Backoff
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	object := &metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace, UID: "1", Generation: 1}
	changed, another := object.DeepCopy(), object.DeepCopy()
	changed.Generation = 2
	another.UID = "2"
	other := &metav1.ObjectMeta{Name: "other", Namespace: key.Namespace, UID: "1", Generation: 1}
	if left := backoff.Left(object, now); left != 0 {
		t.Errorf("waits %s before anything was refused", left)
	}
	for i, want := range []time.Duration{firstRetry, 2 * firstRetry, 4 * firstRetry} {
		backoff.Refused(object, now)
		if left := backoff.Left(object, now); left != want {
			t.Errorf("after refusal %d it waits %s, want %s", i+1, left, want)
		}
	}
	for range 100 {
		backoff.Refused(object, now)
	}
	for what, got := range map[string][2]time.Duration{
		"the wait has a longest":            {backoff.Left(object, now), 25 * time.Second},
		"it gets shorter with time":         {backoff.Left(object, now.Add(time.Second)), 24 * time.Second},
		"and ends":                          {backoff.Left(object, now.Add(time.Hour)), 0},
		"a changed object need not wait":    {backoff.Left(changed, now), 0},
		"nor one made anew":                 {backoff.Left(another, now), 0},
		"nor one of another name":           {backoff.Left(other, now), 0},
		"what is refused anew starts short": {leftAfter(&backoff, other, now), firstRetry},
	} {
		t.Run(what, func(t *testing.T) {
			if got[0] != got[1] {
				t.Errorf("%s, want %s", got[0], got[1])
			}
		})
	}
	hurries(t, &backoff, object, now)
	backoff.Refused(changed, now)
	if left := backoff.Left(changed, now); left != firstRetry {
		t.Errorf("a changed object waits %s", left)
	}
	backoff.Forget(key)
	if left := backoff.Left(changed, now); left != 0 {
		t.Errorf("waits %s after it worked", left)
	}
}

// hurries checks that the next try can be made sooner than in 25 seconds.
func hurries(t *testing.T, backoff *Backoff, object metav1.Object, now time.Time) {
	t.Helper()
	may := func(yes bool) func() bool { return func() bool { return yes } }
	soon := now.Add(time.Second)
	for _, test := range []struct {
		what        string
		at          time.Time
		may, moved  bool
		leftAfterIt time.Duration
	}{
		{"a try that may not be moved", soon, false, false, 25 * time.Second},
		{"a try that may be moved", soon, true, true, time.Second},
		{"a try that is to be made by then", soon, true, false, time.Second},
		{"a try that is to be made earlier", now.Add(time.Minute), true, false, time.Second},
	} {
		if moved := backoff.Hurry(key, test.at, may(test.may)); moved != test.moved {
			t.Errorf("%s: moved: %v", test.what, moved)
		}
		if left := backoff.Left(object, now); left != test.leftAfterIt {
			t.Errorf("%s: waits %s, want %s", test.what, left, test.leftAfterIt)
		}
	}
	backoff.Refused(object, soon)
	if left := backoff.Left(object, soon); left != 25*time.Second {
		t.Errorf("after a try that was made sooner it waits %s", left)
	}
	if backoff.Hurry(key, now, may(true)) == backoff.Hurry(types.NamespacedName{Name: "unknown"}, now, may(true)) {
		t.Error("hurries what was never refused")
	}
}

func leftAfter(backoff *Backoff, object metav1.Object, now time.Time) time.Duration {
	backoff.Refused(object, now)
	return backoff.Left(object, now)
}
