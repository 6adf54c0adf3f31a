package simulation

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// round lets everything go on a little: the caches read all, each loop works on what waits,
// and each Pod gets a step further.
func (w *World) round() {
	for _, r := range w.readers() {
		w.read(r, r.lag(), false)
	}
	w.syncAll()
	for i := range len(w.server.pods.rows) {
		if i < len(w.server.pods.rows) {
			w.advance(w.server.pods.rows[i])
		}
	}
}

// syncAll lets each loop work on the keys that wait.
func (w *World) syncAll() {
	p := w.process
	if p == nil {
		return
	}
	for _, l := range p.loops {
		for n := l.queue.Len(); n > 0 && l.queue.Len() > 0 && w.process == p; n-- {
			w.sync(p, l, 0)
		}
	}
}

// readSome lets one of the caches that lag read on, by one change or some.
func (w *World) readSome(which, count int, atOnce bool) {
	readers := w.readers()
	for i := range readers {
		if r := readers[(which+i)%len(readers)]; r.lag() > 0 {
			if count%4 == 0 {
				count = r.lag()
			}
			w.read(r, 1+count%5, atOnce)
			return
		}
	}
}

// syncSome lets a loop work on one of the keys that wait.
func (w *World) syncSome(which int) {
	p := w.process
	if p == nil {
		return
	}
	waiting := p.loops[0].queue.Len() + p.loops[1].queue.Len()
	if waiting == 0 {
		return
	}
	at := which % waiting
	for _, l := range p.loops {
		if at < l.queue.Len() {
			w.sync(p, l, at)
			return
		}
		at -= l.queue.Len()
	}
}

// advanceFrom advances the first Pod, from one on, that has a step to make.
func (w *World) advanceFrom(which int) {
	pods := w.server.pods.rows
	for i := range pods {
		if w.advance(pods[(which+i)%len(pods)]) {
			return
		}
	}
}

func (w *World) wish(which, how int) {
	if all := w.server.deployments.rows; len(all) > 0 {
		wish := w.wishes[which%numberOfWishes]
		w.tell("user", "%s", wish.name)
		w.check.wished(wish.name)
		wish.do(w, all[how%len(all)], how/3, which/numberOfWishes)
	}
}

func (w *World) create(which, how int) {
	app := [2]string{"web", "api"}[which/7%2]
	d := newDeployment(app, image(how%goodImages), int32(how/7%7))
	switch which / 14 % 4 {
	case 1:
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	case 2:
		d.Spec.Strategy = rolling(fencepost(which/56), fencepost(which/336))
	}
	_, err := create(w.server, &w.server.deployments, &w.user, d)
	if err != nil {
		w.tell("user", "cannot create the Deployment: %v", err)
	}
}

// passSome lets some time pass, often just enough for something to happen.
func (w *World) passSome(how int) {
	if at, set := w.timer(); set && how%2 == 0 {
		w.pass(max(0, at-w.clock.elapsed))
		return
	}
	w.pass([6]time.Duration{5 * time.Millisecond, time.Second, 2 * time.Second, 11 * time.Second, time.Minute, 11 * time.Minute}[how/2%6])
}

func (w *World) crash() {
	if w.process != nil {
		w.tell("process", "process %d dies", w.process.number)
		w.process.gone = true
		w.process = nil
	}
}

// handOver lets another process lead. The old one is fenced; a request of it may be under way.
func (w *World) handOver(how int) {
	if w.process != nil {
		w.process.fenced = true
	}
	behind := 0
	if how%8 == 0 {
		// An API server that cannot stream lists may answer the first one from a cache.
		behind = 1 + how/8%12
		clear(w.check.quiet)
		w.check.garbled = true
	}
	w.tell("process", "process %d leads", w.processes+1)
	w.start(behind)
}
