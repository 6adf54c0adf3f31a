package simulation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/pkg/controllers/deployment/rollout"
)

// ending says what is wrong with the end of a story; "" if nothing is.
type ending func(*stage) string

// all: each of some endings.
func all(endings ...ending) ending {
	return func(s *stage) string {
		for _, end := range endings {
			if wrong := end(s); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

// complete: all wanted Pods run the image and are available, nothing else runs, and the
// Deployment says so.
func complete(image string, replicas int) ending {
	return func(s *stage) string {
		d := s.deployment()
		st := d.Status
		wanted := int32(replicas)
		switch {
		case st.ObservedGeneration != d.Generation, st.UpdatedReplicas != wanted, st.Replicas != wanted, st.AvailableReplicas != wanted:
			return fmt.Sprintf("it reports %s of generation %d, not %d available Pods", counts(st), d.Generation, replicas)
		case len(s.server.pods.rows) != replicas:
			return fmt.Sprintf("there are %d Pods, not %d", len(s.server.pods.rows), replicas)
		}
		for _, pod := range s.server.pods.rows {
			if pod.Spec.Containers[0].Image != image {
				return fmt.Sprintf("Pod %s runs %s, not %s", pod.Name, pod.Spec.Containers[0].Image, image)
			}
		}
		return reports(appsv1.DeploymentProgressing, rollout.ReasonComplete)(s)
	}
}

// reports: the Deployment has a condition of that reason; "" for no such condition.
func reports(kind appsv1.DeploymentConditionType, reason string) ending {
	return func(s *stage) string {
		got := ""
		if c := find(s.deployment(), kind); c != nil {
			got = c.Reason
		}
		if got != reason {
			return fmt.Sprintf("%s has the reason %q, not %q", kind, got, reason)
		}
		return ""
	}
}

// sized: a ReplicaSet wants so many Pods.
func sized(label string, replicas int) ending {
	return func(s *stage) string {
		if got := int(size(s.named(label))); got != replicas {
			return fmt.Sprintf("web-%s wants %d Pods, not %d", label, got, replicas)
		}
		return ""
	}
}

// atRevision: the Deployment and the ReplicaSet have that revision.
func atRevision(label, revision string) ending {
	return func(s *stage) string {
		deployment, set := s.deployment().Annotations[rollout.RevisionAnnotation], s.named(label).Annotations[rollout.RevisionAnnotation]
		if deployment != revision || set != revision {
			return fmt.Sprintf("the Deployment has revision %s and web-%s has %s, not %s", deployment, label, set, revision)
		}
		return ""
	}
}

// kept: there are so many ReplicaSets.
func kept(sets int) ending {
	return func(s *stage) string {
		if got := len(s.server.replicaSets.rows); got != sets {
			return fmt.Sprintf("there are %d ReplicaSets, not %d", got, sets)
		}
		return ""
	}
}

// running: there are so many Pods, of whomever.
func running(pods int) ending {
	return func(s *stage) string {
		if got := len(s.server.pods.rows); got != pods {
			return fmt.Sprintf("there are %d Pods, not %d", got, pods)
		}
		return ""
	}
}

// lives: the Pod that the tale calls so is there.
func lives(name string) ending {
	return func(s *stage) string {
		for _, pod := range s.server.pods.rows {
			if s.tale.names.plain(pod.Name) == name {
				return ""
			}
		}
		return fmt.Sprintf("Pod %s is gone", name)
	}
}
