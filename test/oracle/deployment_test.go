package oracle

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/kubernetes/pkg/controller/deployment/util"
)

const (
	// deploymentCases is how many Deployments are looked at, and steps how often each.
	deploymentCases = 800
	steps           = 3
)

var errRefused = errors.New("refused")

// Each step begins with what one of the two loops has left of the step before, so each also
// takes over from the other, at any moment.
func TestDeployment(t *testing.T) {
	hits := hits{}
	same := 0
	each(t, deploymentCases, func(t *testing.T, d dice) {
		synctest.Test(t, func(t *testing.T) {
			w := randomWorld(d, time.Now())
			for range steps {
				s := takeStep(t, w, refusal(d))
				if agree(t, s, hits) {
					same++
				}
				w = s.ours
				if d.chance(50) && !s.overflows() {
					w = s.theirs
				}
				<-time.After(pick(d, time.Second, 9*time.Second, 10*time.Minute))
				live(d, w)
			}
		})
	})
	t.Logf("%d of %d steps have the same effect to the last field", same, deploymentCases*steps)
	if same < deploymentCases*steps/3 && usual() {
		t.Error("too few of them: what differs in so many places is no exception")
	}
	check(t, hits, knownDifferences())
}

func refusal(d dice) error {
	if d.odd(7) {
		return errRefused
	}
	return nil
}

func takeStep(t *testing.T, before *world, refusal error) step {
	t.Helper()
	s := step{before: before, decided: before, refusal: refusal}
	s.theirs, s.now = builtinDeployment(t, before, refusal)
	s.ours, s.plan = ourDeployment(t, before, s.now, refusal)
	if resumes(before) {
		s.decided = s.ours
		s.ours, s.plan = ourDeployment(t, s.decided, s.now, refusal)
	}
	return s
}

// agree reports whether the two loops do the same, and complains about a difference that is
// not known.
func agree(t *testing.T, s step, hits hits) bool {
	t.Helper()
	differences := compare(s.ours, s.theirs)
	for _, difference := range differences {
		if !excuse(hits, knownDifferences(), s, difference) {
			t.Errorf("%s\n%s", difference, s)
		}
	}
	return len(differences) == 0
}

// resumes reports whether the Deployment was paused when its status was written last.
func resumes(w *world) bool {
	progressing := util.GetDeploymentCondition(w.deployment.Status, appsv1.DeploymentProgressing)
	return !w.deployment.Spec.Paused && progressing != nil && progressing.Reason == util.PausedDeployReason
}
