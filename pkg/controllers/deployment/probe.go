package deployment

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"controller-manager/pkg/controllers/deployment/rollout"
	"controller-manager/pkg/controllers/freshness"
)

// probe asks the API server by a dry run what would become of the new ReplicaSet: admission is
// asked, and nothing is made. If it would come out as it is sent, or if the API server cannot say
// and enough time has passed, the name that is taken counts as a collision, and the next
// sync makes one under another name.
func (c *Controller) probe(ctx context.Context, d *appsv1.Deployment, probe *rollout.Probe, outcome *rollout.Outcome) error {
	now := c.clock.Now()
	if outcome.LookAgain = c.probes.Left(d, now); outcome.LookAgain > 0 {
		return nil
	}
	wanted := probe.ReplicaSet
	logger := klog.FromContext(ctx).WithValues("replicaSet", klog.KObj(probe.Former))
	answer, err := c.client.AppsV1().ReplicaSets(wanted.Namespace).Create(ctx, wanted, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err != nil && (!freshness.Refused(err) || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err)): // that says nothing of dry runs
		return fmt.Errorf("trying ReplicaSet %s by a dry run: %w", wanted.Name, err)
	case err != nil && probe.Blind:
		outcome.Collision = true
		logger.V(2).Info("The template of a ReplicaSet was changed, and no dry run tells whether that would happen again: another one will be made", "reason", err.Error())
		return nil
	case err != nil:
		logger.V(2).Info("The template of a ReplicaSet was changed, and no dry run tells whether that would happen again", "reason", err.Error())
	default:
		changes := rollout.Changes(d, wanted, answer)
		if len(changes) == 0 {
			outcome.Collision = true
			logger.V(2).Info("The template of a ReplicaSet was changed, and that would not happen again: another one will be made")
			return nil
		}
		c.record(d, templateChanged(probe.Former.Name, changes))
		logger.V(2).Info("The template of a ReplicaSet was changed, and that would happen again: none is made", "changed", changes)
	}
	outcome.LookAgain = rollout.DoubtFor
	c.probes.PutOff(d, now.Add(rollout.DoubtFor))
	return nil
}

// cameOut looks at a ReplicaSet that was just made. If admission has changed it so that it cannot
// be the new one, that is told, and there will be no other one within a minute: rollout
// sees to that by what it finds, and if the Deployment will not find it, the memory here does.
func (c *Controller) cameOut(ctx context.Context, d *appsv1.Deployment, wanted, created *appsv1.ReplicaSet) {
	changes := rollout.Changes(d, wanted, created)
	if len(changes) == 0 {
		c.creates.Forget(keyOf(d))
		return
	}
	c.record(d, templateChanged(created.Name, changes))
	klog.FromContext(ctx).V(2).Info("A ReplicaSet came out of the API server changed", "replicaSet", klog.KObj(created), "changed", changes)
	c.creates.PutOff(d, c.clock.Now().Add(rollout.DoubtFor))
}
