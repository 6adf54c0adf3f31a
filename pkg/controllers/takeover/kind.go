package takeover

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// kind is what is known of the writes of one kind of objects.
type kind struct {
	logKey string
	writes prometheus.Counter
	// newest is the time of the newest write: of any, until this process leads; from then
	// on, of those that were not ours.
	newest time.Time
	// counted are the writes of that second that were counted. The others are older, and
	// were counted or are not to be.
	counted map[write]bool
}

// write is a write of a status. Several within a second cannot be told apart.
type write struct {
	object  types.UID
	manager string
}

func newKind(controller, logKey string) *kind {
	return &kind{
		logKey: logKey,
		writes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "controller_manager_foreign_status_writes_total",
			Help: "Writes of the status by another program, while this one led. " +
				"Those of one program to one object within a second count once, those of kubectl not at all.",
			ConstLabels: prometheus.Labels{"controller": controller},
		}),
	}
}

// remember notes a write from before this process leads.
func (k *kind) remember(at time.Time) {
	if at.After(k.newest) {
		k.newest = at
	}
}

// isNew reports whether a write was made since this process leads, and is seen for the
// first time.
func (k *kind) isNew(w write, at time.Time) bool {
	if at.After(k.newest) {
		k.newest, k.counted = at, map[write]bool{}
	}
	// Without counted, newest is of the time before.
	if k.counted == nil || at.Before(k.newest) || k.counted[w] {
		return false
	}
	k.counted[w] = true
	return true
}
