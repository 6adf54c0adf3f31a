package simulation

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// admission is what the third admission plugin does to ReplicaSets that are created.
type admission uint8

const (
	admitsAll    admission = iota // nothing
	changes                       // it changes their templates
	changesBlind                  // it changes them, and refuses dry runs
)

func (a admission) String() string {
	return [3]string{"leaves templates alone", "changes templates", "changes templates, and takes no dry run"}[a]
}

// injected is what admission adds to a template, as an annotation.
const injected = "injected"

// admitted returns a ReplicaSet as admission lets it pass.
func (s *server) admitted(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	passed := shallow(rs)
	if s.admission != admitsAll {
		passed.Spec.Template.Annotations = merged(rs.Spec.Template.Annotations, map[string]string{injected: " and more"})
	}
	return passed
}

// try is a dry run: it says what would come of a create.
func (s *server) try(rs *appsv1.ReplicaSet) (*appsv1.ReplicaSet, error) {
	switch {
	case s.admission == changesBlind:
		return nil, apierrors.NewBadRequest("the admission webhook does not support dry run")
	case s.replicaSets.get(rs.Name) != nil:
		return nil, apierrors.NewAlreadyExists(appsv1.Resource(s.replicaSets.resource), rs.Name)
	}
	return s.admitted(rs), nil
}

// oneAMinute: of the ReplicaSets whose template comes out changed there is at most one a minute
// for each template of a Deployment.
//
// Tolerated: clocks that are wrong; requests whose sender has given up on them; and if somebody
// takes a ReplicaSet away or changes one, it starts anew.
func (c *checker) oneAMinute(s *syncing, rs *appsv1.ReplicaSet) {
	if s.deployment == nil || imageOf(rs) == imageIn(&s.deployment.Spec.Template) || c.world.landing {
		return
	}
	key, now := string(controllerOf(rs))+" "+imageOf(rs), c.world.clock.elapsed
	before, known := c.changed[key]
	c.changed[key] = now
	if known && now-before < time.Minute-time.Second && s.process.clock.offset == 0 {
		c.fail("one ReplicaSet a minute", "%s was made %s after one of the same template that had come out changed", rs.Name, now-before)
	}
}
