package deployment

import (
	"testing"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// These strings are interfaces: kubectl, dashboards, GitOps tools and alerts match on them.
func TestNamesThatOthersMatchOn(t *testing.T) {
	for got, want := range map[string]string{
		reasonScaling:                     "ScalingReplicaSet",
		reasonCreateError:                 "ReplicaSetCreateError",
		reasonSelectingAll:                "SelectingAll",
		reasonRollback:                    "DeploymentRollback",
		reasonRollbackRevisionNotFound:    "DeploymentRollbackRevisionNotFound",
		reasonRollbackTemplateUnchanged:   "DeploymentRollbackTemplateUnchanged",
		rollout.ReasonAvailable:           "MinimumReplicasAvailable",
		rollout.ReasonUnavailable:         "MinimumReplicasUnavailable",
		rollout.ReasonCreated:             "NewReplicaSetCreated",
		rollout.ReasonFound:               "FoundNewReplicaSet",
		rollout.ReasonUpdated:             "ReplicaSetUpdated",
		rollout.ReasonComplete:            "NewReplicaSetAvailable",
		rollout.ReasonDeadlineExceeded:    "ProgressDeadlineExceeded",
		rollout.ReasonPaused:              "DeploymentPaused",
		rollout.ReasonResumed:             "DeploymentResumed",
		rollout.RevisionAnnotation:        "deployment.kubernetes.io/revision",
		rollout.RevisionHistoryAnnotation: "deployment.kubernetes.io/revision-history",
		rollout.DesiredReplicasAnnotation: "deployment.kubernetes.io/desired-replicas",
		rollout.MaxReplicasAnnotation:     "deployment.kubernetes.io/max-replicas",
		rollout.RollbackAnnotation:        "deprecated.deployment.rollback.to",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
