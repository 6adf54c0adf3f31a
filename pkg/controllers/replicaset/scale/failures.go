package scale

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/pkg/controllers/pods"
)

// A Pod that comes to its end by itself within young of its creation has failed as soon as it was
// made. Its replacement is made at once. If that fails too, the next one is made
// firstPause later, and then the pause doubles up to longestPause.
const (
	young        = 10 * time.Second
	firstPause   = 10 * time.Second
	longestPause = 5 * time.Minute
	// forgotten is after what time without such a failure there was none.
	forgotten = 2 * longestPause
	// aWave is how far apart Pods were made that count as made one after the failure of the other,
	// where nobody was there to see it.
	aWave = 5 * time.Second
)

// Failures is what is known about Pods of one ReplicaSet that fail as soon as they are made. They
// are counted by waves: ten that were made together and all fail are one failure. So a wave
// is what was there when the one before was counted, by UID, and no clock decides about that; only
// how old a Pod was when it failed is a matter of the times in the object.
//
// The zero Failures knows nothing yet: it is for a ReplicaSet that was never looked at by
// this process. After then comes a look at what other processes have left.
type Failures struct {
	// Waves is how many there were in a row.
	Waves int
	// Cause is why the first Pod of the last one failed, as its status says; may be empty.
	Cause string

	looked bool
	rose   time.Time          // when the last one was counted, by the clock of this process
	before map[types.UID]bool // the Pods that were there then; never changed
	fresh  time.Time          // since when there has been a Pod that came later; zero if there is none
}

// String says in words what happens.
func (f Failures) String() string {
	if f.Cause == "" {
		return "pods fail as soon as they are made"
	}
	return fmt.Sprintf("pods fail as soon as they are made (%s)", f.Cause)
}

// Left returns for how long no Pod is to be made; 0 if one may be now.
func (f Failures) Left(now time.Time) time.Duration {
	return max(0, f.rose.Add(f.Pause()).Sub(now))
}

// Pause returns how long is waited after the last wave; 0 if its Pods are replaced at once.
func (f Failures) Pause() time.Duration {
	if f.Waves < 2 {
		return 0
	}
	pause := firstPause
	for n := 2; n < f.Waves && pause < longestPause; n++ {
		pause *= 2
	}
	return min(pause, longestPause)
}

// SettleIn returns after what time a Pod that is there now will have stayed long enough, and
// nothing failed any more; 0 if there is none.
func (f Failures) SettleIn(now time.Time) time.Duration {
	if f.Waves == 0 || f.fresh.IsZero() {
		return 0
	}
	return max(1, min(young, f.fresh.Add(young).Sub(now)))
}

// After returns what is known once the snapshot has been looked at. One that is not settled says
// nothing: Pods of the last wave may be missing in it.
func (f Failures) After(s Snapshot) Failures {
	switch {
	case !s.Settled:
		return f
	case !f.looked:
		return firstLook(s)
	}
	if f.rose.After(s.Now) {
		f.rose = s.Now // the clock was set back
	}
	if f.Waves > 0 && (f.stayed(s) || s.Now.Sub(f.rose) > forgotten) {
		f = Failures{looked: true, before: f.before}
	}
	for _, pod := range s.Failed {
		if !f.before[pod.UID] && failedYoung(pod, s.Now) {
			return Failures{looked: true, Waves: f.Waves + 1, Cause: pods.CauseOfFailure(pod), rose: s.Now, before: uidsOf(s)}
		}
	}
	switch {
	case f.Waves == 0 || !f.hasFresh(s):
		f.fresh = time.Time{}
	case f.fresh.IsZero() || f.fresh.After(s.Now):
		f.fresh = s.Now
	}
	return f
}

// stayed reports whether a Pod that came after the last wave has stayed.
func (f Failures) stayed(s Snapshot) bool {
	return f.hasFresh(s) && !f.fresh.IsZero() && s.Now.Sub(f.fresh) >= young
}

func (f Failures) hasFresh(s Snapshot) bool {
	return slices.ContainsFunc(s.Active, func(pod *corev1.Pod) bool { return !f.before[pod.UID] })
}

// firstLook counts the waves that an earlier process has seen, as far as their Pods are still
// there, by the times in these.
func firstLook(s Snapshot) Failures {
	f := Failures{looked: true, before: uidsOf(s)}
	failed := slices.DeleteFunc(slices.Clone(s.Failed), func(pod *corev1.Pod) bool { return !failedYoung(pod, s.Now) })
	slices.SortFunc(failed, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	for _, pod := range failed {
		if f.Waves > 0 && pod.CreationTimestamp.Sub(f.rose) <= aWave {
			continue
		}
		if pod.CreationTimestamp.Sub(f.rose) > forgotten {
			f.Waves = 0
		}
		f.Waves, f.Cause, f.rose = f.Waves+1, pods.CauseOfFailure(pod), pod.CreationTimestamp.Time
		if at, known := pods.FailedAt(pod); known && at.After(f.rose) {
			f.rose = at
		}
	}
	if f.Waves == 0 {
		return f
	}
	for _, pod := range s.Active {
		if pod.CreationTimestamp.After(f.rose) {
			delete(f.before, pod.UID)
			if made := pod.CreationTimestamp.Time; f.fresh.IsZero() || made.Before(f.fresh) {
				f.fresh = made
			}
		}
	}
	return f.After(s)
}

// failedYoung reports whether a Pod that has failed did so within a moment of its creation. Where
// nobody can tell when, it was no later than now. A time before the creation is by a clock that is
// wrong, and by far it says nothing.
func failedYoung(pod *corev1.Pod, now time.Time) bool {
	at, known := pods.FailedAt(pod)
	if !known {
		at = now
	}
	return at.Sub(pod.CreationTimestamp.Time).Abs() <= young
}

func uidsOf(s Snapshot) map[types.UID]bool {
	uids := make(map[types.UID]bool, len(s.Active)+len(s.Terminating)+len(s.Failed))
	for _, all := range [][]*corev1.Pod{s.Active, s.Terminating, s.Failed} {
		for _, pod := range all {
			uids[pod.UID] = true
		}
	}
	return uids
}
