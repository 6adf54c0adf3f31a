package simulation

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/deployment"
	"controller-manager/pkg/controllers/replicaset"
)

// process is one run of the program: both loops, with caches, queues and memories of their
// own. It ends by being gone, or by being fenced when another one leads.
type process struct {
	number int
	clock  *wallClock
	loops  [2]*loop // that of Deployments, that of ReplicaSets
	ctx    context.Context

	gone   bool // it has crashed: it says and hears nothing more
	fenced bool // another one leads: no write goes out, but one that is under way arrives
}

// loop is one of the two control loops: the real one, behind a connection, a queue and caches
// of this world.
type loop struct {
	name   string
	caches *caches
	queue  *queue
	conn   *connection
	next   func(context.Context)
}

// syncing is one sync of a loop, from its first look at the caches to its end.
type syncing struct {
	writer
	process *process
	loop    *loop
	key     key
	now     time.Time // by its clock, when it looked at its caches
	seen    [3]int64  // the versions that its caches had read: Deployments, ReplicaSets, Pods

	live metav1.Object // the owner, as the API server answered last; nil if it did not

	wrote        bool // whether it has sent a write
	wasted       int  // how many writes changed nothing
	grew, shrank bool // whether it made some ReplicaSet larger, and some smaller

	deployment  *appsv1.Deployment   // as the cache shows it; of the Deployment loop
	sets        []*appsv1.ReplicaSet // those that it controls
	replicaSet  *appsv1.ReplicaSet   // as the cache shows it; of the ReplicaSet loop
	active      []*corev1.Pod        // those that count towards its size
	terminating []*corev1.Pod        // those that it controls and that are being deleted

}

func (s *syncing) isDeployment() bool { return s.loop == s.process.loops[0] }

// start lets a new process lead. Its caches have read the logs except for the last changes,
// none nearly always: a list at the start is as new as the server.
func (w *World) start(behind int) {
	w.processes++
	p := &process{number: w.processes, clock: &wallClock{clock: &w.clock, offset: w.offset}}
	p.ctx = klog.NewContext(context.Background(), klog.New(&sink{world: w}))
	p.loops[0] = w.loop(p, "deployment loop", func(l *loop) (func(context.Context), error) {
		c, err := deployment.New(deployment.Config{
			Client: client{conn: l.conn}, Events: recorder{world: w}, Informers: l.caches.factory(),
			Clock: p.clock, Metrics: unmeasured{}, Queue: l.queue,
		})
		return c.Next, err
	})
	p.loops[1] = w.loop(p, "replicaset loop", func(l *loop) (func(context.Context), error) {
		c, err := replicaset.New(replicaset.Config{
			Client: client{conn: l.conn}, Events: recorder{world: w}, Informers: l.caches.factory(),
			Clock: p.clock, Metrics: unmeasured{}, Queue: l.queue, AtOnce: 1, Suffix: w.suffix, PodFailureBackoff: true,
		})
		return c.Next, err
	})
	for _, l := range p.loops {
		for _, r := range l.caches.readers() {
			r.fill(max(0, r.lag()-behind))
		}
	}
	w.process = p
}

func (w *World) loop(p *process, name string, create func(*loop) (func(context.Context), error)) *loop {
	l := &loop{name: name, caches: newCaches(name, w.server), queue: newQueue(&w.clock), conn: &connection{world: w, process: p}}
	next, err := create(l)
	if err != nil {
		panic(fmt.Sprintf("making the %s: %v", name, err)) // a fault of this package
	}
	l.next = next
	return l
}

// suffix ends the name of a Pod. Now and then it is one that was used before, but not in a
// plain world.
func (w *World) suffix() string {
	w.names++
	n := w.names
	if w.plain {
		return fmt.Sprintf("%05d", n)
	}
	if n%16 == 0 {
		n -= 5
	}
	text := strconv.FormatUint(uint64(scatter(n)), 36)
	return ("0000" + text)[len(text)-1:]
}

// sync lets a loop take the key at a place of its queue through one sync.
func (w *World) sync(p *process, l *loop, at int) {
	l.queue.first(at)
	s := &syncing{process: p, loop: l, key: l.queue.ready[0]}
	s.writer = writer{name: l.name, sync: s}

	outer := l.conn.sync
	l.conn.sync = s
	w.check.look(s)
	untouched := w.check.remember(s)
	l.next(p.ctx)
	untouched()
	l.conn.sync = outer
	w.Events++
	w.Syncs++
	w.check.afterSync(s)
	if p.gone && w.process == p {
		w.process = nil
	}
}

// unmeasured takes metrics and forgets them.
type unmeasured struct{ prometheus.Registerer }

// Register forgets a metric.
func (unmeasured) Register(prometheus.Collector) error { return nil }

// MustRegister forgets metrics.
func (unmeasured) MustRegister(...prometheus.Collector) {}

// recorder takes the loops' events.
type recorder struct{ world *World }

// Event is told in the story.
func (r recorder) Event(_ runtime.Object, kind, reason, message string) {
	if r.world.narrator != nil {
		r.world.narrator.event(kind, reason, message)
	}
}

// Eventf is not used by the loops.
func (r recorder) Eventf(runtime.Object, string, string, string, ...any) { panic("not used") }

// AnnotatedEventf is not used by the loops.
func (r recorder) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
	panic("not used")
}

// sink takes the log of the loops. What is logged while a story is told becomes part of it.
type sink struct {
	world  *World
	values []any
}

// Init is called by klog.
func (s *sink) Init(klog.RuntimeInfo) {}

// Enabled says that nothing is logged unless somebody reads it.
func (s *sink) Enabled(level int) bool { return s.world.narrator != nil && level <= 4 }

// Info takes a line.
func (s *sink) Info(level int, message string, values ...any) {
	s.world.narrator.logged(level, message, s.and(values))
}

// Error takes a line about a failure. A panic in a loop is one that nobody may overlook.
func (s *sink) Error(err error, message string, values ...any) {
	if message == "Sync panicked" {
		s.world.check.fail("no panic", "%s%s", message, inWords(values))
	}
	if s.world.narrator != nil {
		s.world.narrator.failed(err, message, s.and(values))
	}
}

// and returns the values of each line, and those of one.
func (s *sink) and(values []any) []any { return append(append([]any{}, s.values...), values...) }

// WithValues returns a sink that adds values to each line.
func (s *sink) WithValues(values ...any) klog.LogSink {
	if s.world.narrator == nil {
		return s
	}
	return &sink{world: s.world, values: s.and(values)}
}

// WithName changes nothing.
func (s *sink) WithName(string) klog.LogSink { return s }

// inWords writes keys and values behind a message.
func inWords(values []any) string {
	text := ""
	for i := 0; i+1 < len(values); i += 2 {
		switch value := values[i+1].(type) {
		case klog.ObjectRef:
			text += fmt.Sprintf(" %s=%s", values[i], value.Name)
		case time.Duration:
			text += fmt.Sprintf(" %s=%s", values[i], value)
		default:
			text += fmt.Sprintf(" %s=%v", values[i], value)
		}
	}
	return text
}
