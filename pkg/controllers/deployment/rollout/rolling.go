package rollout

import (
	"fmt"
	"slices"
)

// roll takes one step of a rolling update: grow the new ReplicaSet as far as the surge
// allows, or else shrink old ones as far as availability allows. Each step changes what
// the next one is decided on, so the bounds hold at every moment:
//
//	sum of all spec.replicas  ≤  wanted + maxSurge
//	available Pods            ≥  wanted − maxUnavailable   (as far as we are the cause)
func (d *draft) roll() {
	total := sum(d.all(), size)
	switch {
	case d.new == nil:
		if d.doubts() {
			return
		}
		room := d.room(total, 0)
		d.createNew(room, fmt.Sprintf("no ReplicaSet has the Deployment's template; of %d wanted Pods %d may be made: %s", d.wanted, room, d.surgeNote(total)))
		// None of what is made now is available yet, so it gives no room to shrink.
		d.shrinkOld(total-d.minAvailable(), 0)
		return
	case leaving(d.new):
		d.note = fmt.Sprintf("waiting for ReplicaSet %s to be gone, it is being deleted", d.new.Name)
		return
	}
	current := size(d.new)
	if current > d.wanted {
		d.resize(d.new, d.wanted, fmt.Sprintf("%d Pods are wanted", d.wanted))
		return
	}
	if room := d.room(total, current); room > 0 {
		d.resize(d.new, current+room, fmt.Sprintf("%d Pods of the new template are wanted, %d are asked for; %s", d.wanted, current, d.surgeNote(total)))
		return
	}
	available := dependablyAvailable(d.new)
	missing := current - available
	if d.shrinkOld(total-d.minAvailable()-missing, available) {
		return
	}
	if d.complete() {
		d.note = "the rollout is complete"
		d.history()
		return
	}
	d.note = d.waitingNote(total, current, available)
}

// room is how many Pods the new ReplicaSet may grow by: up to the wanted number, and up
// to what the surge leaves over all that is asked for.
func (d *draft) room(total, current int64) int64 {
	return max(0, min(d.wanted+d.fenceposts.surge-total, d.wanted-current))
}

// shrinkOld scales old ReplicaSets down within the budget, oldest first. Pods that are not
// available go first, since nobody misses them and a broken revision would block its
// own replacement otherwise; then available ones, as far as more are available than must
// be. A ReplicaSet that loses Pods for both reasons is written once, with the sum.
func (d *draft) shrinkOld(budget, newAvailable int64) bool {
	old := slices.DeleteFunc(slices.Clone(d.old), leaving)
	available := newAvailable + sum(old, dependablyAvailable)
	broken := make([]int64, len(old))
	for i, rs := range old {
		broken[i] = max(0, min(budget, size(rs)-dependablyAvailable(rs)))
		budget -= broken[i]
	}
	shrunk := false
	spare := max(0, min(available-d.minAvailable(), budget))
	for i, rs := range old {
		healthy := min(spare, size(rs)-broken[i])
		spare -= healthy
		if broken[i]+healthy == 0 {
			continue
		}
		shrunk = true
		d.resize(rs, size(rs)-broken[i]-healthy, d.shrinkNote(broken[i], healthy, available))
	}
	return shrunk
}

func (d *draft) surgeNote(total int64) string {
	return fmt.Sprintf("%d Pods are asked for in all, and maxSurge %d allows %d", total, d.fenceposts.surge, d.wanted+d.fenceposts.surge)
}

func (d *draft) shrinkNote(broken, healthy, available int64) string {
	switch {
	case healthy == 0:
		return fmt.Sprintf("%d of its Pods are not available and are replaced first", broken)
	case broken == 0:
		return fmt.Sprintf("%d Pods are available, and maxUnavailable %d asks for no more than %d", available, d.fenceposts.unavailable, d.minAvailable())
	}
	return fmt.Sprintf("%d of its Pods are not available, and of %d available Pods maxUnavailable %d asks for no more than %d",
		broken, available, d.fenceposts.unavailable, d.minAvailable())
}

func (d *draft) waitingNote(total, current, newAvailable int64) string {
	if current < d.wanted || total > current {
		return fmt.Sprintf("waiting for Pods to become available: %d of %d new ones are, %d in all, at least %d must be; %s",
			newAvailable, current, newAvailable+sum(d.old, dependablyAvailable), d.minAvailable(), d.surgeNote(total))
	}
	if newAvailable == current {
		return "waiting for Pods that are not wanted any more to be gone"
	}
	return fmt.Sprintf("waiting for %d of %d Pods to become available", current-newAvailable, current)
}
