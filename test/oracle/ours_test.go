package oracle

import (
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/controller/deployment/util"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// ourDeployment returns the world after one step of our core, which is carried out here as
// apply.go of the Deployment loop does.
func ourDeployment(t *testing.T, before *world, now time.Time, refusal error) (*world, rollout.Plan) {
	t.Helper()
	snapshot := before.snapshot(now)
	plan, err := rollout.Decide(snapshot)
	if err != nil {
		t.Fatalf("deciding: %v", err)
	}
	after := before.clone()
	if plan.Rollback != nil {
		desired := plan.Rollback.Desired
		desired.Status = before.deployment.Status
		after.putDeployment(desired)
		return after, plan
	}
	outcome := after.carryOut(plan, now, refusal)
	report := rollout.Status(snapshot, plan, outcome)
	written := after.deployment.DeepCopy()
	written.Status = report.Status
	if report.Revision != "" {
		if written.Annotations == nil {
			written.Annotations = map[string]string{}
		}
		written.Annotations[util.RevisionAnnotation] = report.Revision
	}
	after.putDeployment(written)
	return after, plan
}

func (w *world) carryOut(plan rollout.Plan, now time.Time, refusal error) rollout.Outcome {
	var outcome rollout.Outcome
	if plan.Create != nil {
		wanted := plan.Create.ReplicaSet
		existing := w.sets[wanted.Name]
		switch {
		case refusal != nil:
			return rollout.Outcome{CreateErr: refusal, Err: refusal}
		case existing == nil:
			outcome.New, outcome.Created = w.create(wanted, now), true
		case rollout.IsNewReplicaSet(w.deployment, existing):
			outcome.New = existing
		default:
			return rollout.Outcome{Collision: true}
		}
	}
	for _, change := range plan.Change {
		outcome.Written = append(outcome.Written, w.put(change.Desired))
	}
	for _, deletion := range plan.Delete {
		delete(w.sets, deletion.ReplicaSet.Name)
	}
	return outcome
}
