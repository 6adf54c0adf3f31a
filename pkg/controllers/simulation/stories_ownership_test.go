package simulation

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownershipStories are about what belongs to whom, and what goes first.
func ownershipStories() []golden {
	return []golden{
		{
			name:  "a ReplicaSet without a Deployment",
			shows: "A ReplicaSet works alone: it keeps the number of its Pods, and knows no rollouts.",
			steps: []step{createsReplicaSet(2), passes(time.Minute), deletesPod("alone-a"), passes(time.Minute), scalesReplicaSet("alone", 3)},
			ends:  running(3),
		},
		{
			name: "which Pod goes first",
			shows: "A ReplicaSet that shrinks one by one deletes the Pod that is missed least: without a node, Pending, not ready, cheaper, " +
				"beside a sibling, ready for a shorter time, restarted more often.",
			steps: []step{given(web(8, "")), passes(2 * time.Hour), arranged(), passes(time.Minute), scales(7), passes(time.Minute), scales(6),
				passes(time.Minute), scales(5), passes(time.Minute), scales(4), passes(time.Minute), scales(3), passes(time.Minute), scales(2), passes(time.Minute), scales(1)},
			ends: all(running(1), lives("web-v1-b")),
		},
		{
			name:  "a Deployment adopts what another one left",
			shows: "A Deployment that is deleted with its dependents orphaned leaves ReplicaSet and Pods at work. A new one with the same selector adopts them: no Pod is made.",
			steps: []step{given(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), deletes("leaving its dependents", metav1.DeletePropagationOrphan), passes(time.Minute),
				creates(web(3, "maxSurge 25%, maxUnavailable 25%"))},
			ends: all(complete("v1", 3), kept(1), lives("web-v1-a")),
		},
		{
			name:  "a Deployment is deleted",
			shows: "Neither loop deletes anything: the garbage collector takes the ReplicaSet, since its Deployment is gone, and then the Pods.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), deletes("in the background", metav1.DeletePropagationBackground)},
			ends:  all(kept(0), running(0)),
		},
		{
			name:  "a Pod is taken out of service",
			shows: "A Pod that loses its label is released and lives on, for people to look at; another one takes its place.",
			steps: []step{given(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), relabels("web-v1-b")},
			ends:  all(running(4), lives("web-v1-b")),
		},
		{
			name:  "a ReplicaSet is taken out of service",
			shows: "A ReplicaSet that loses its label is released, and its Pods stay with it. The Deployment has no ReplicaSet any more and makes one; since the old one has its name, the name is another.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), func(s *stage) {
				rs := s.named("v1")
				changed := shallow(rs)
				changed.Labels = relabeled(rs.Labels)
				s.writeReplicaSet(rs, changed)
				s.tale.tells("user", "takes the label app=web from ReplicaSet web-v1")
			}},
			ends: all(running(4), atRevision("v1-2", "1")),
		},
		{
			name:  "the name of the new ReplicaSet is taken",
			shows: "A ReplicaSet's name comes from its template. If somebody else's has it, collisionCount becomes part of the hash, and that gives another name.",
			steps: []step{func(s *stage) {
				elsewhere := newStage(s.lost)
				creates(web(2, ""))(elsewhere)
				elsewhere.settle()
				name := elsewhere.server.replicaSets.rows[0].Name
				_, _ = create(s.server, &s.server.replicaSets, &s.user, bare(name, "other", "theirs", 1))
				s.play(time.Minute)
				begins("ReplicaSet web-theirs of somebody else, which has the very name that web's would get")(s)
			}, passes(time.Minute), creates(web(2, "maxSurge 25%, maxUnavailable 25%"))},
			ends: func(s *stage) string {
				if d := s.deployment(); d.Status.CollisionCount == nil || *d.Status.CollisionCount != 1 {
					return "there is no collisionCount of 1"
				}
				return running(3)(s)
			},
		},
		{
			name:  "a Deployment is deleted with its Pods first",
			shows: "Foreground deletion: the Deployment stays until ReplicaSet and Pods are gone, and meanwhile only reports; nothing is replaced.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), deletes("its dependents first", metav1.DeletePropagationForeground)},
			ends:  all(kept(0), running(0)),
		},
		{
			name:  "somebody scales a ReplicaSet by hand",
			shows: "A ReplicaSet belongs to its Deployment: another size than the Deployment's is put back.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), scalesReplicaSet("v1", 4)},
			ends:  all(complete("v1", 2), sized("v1", 2)),
		},
		{
			name:  "somebody deletes the ReplicaSet",
			shows: "The Deployment makes it again under the same name as soon as it is gone; the garbage collector stops the old Pods. The bounds cannot help here.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), func(s *stage) {
				_ = remove(s.server, &s.server.replicaSets, &s.user, s.named("v1").Name, metav1.Preconditions{}, metav1.DeletePropagationBackground)
				s.tale.tells("user", "deletes ReplicaSet web-v1")
			}},
			ends: all(complete("v1", 2), kept(1)),
		},
		{
			name:  "no old revision is kept",
			shows: "With revisionHistoryLimit 0 the old ReplicaSet goes as soon as the rollout is complete; a Pod of it that is still stopping is not waited for. There is no undo.",
			steps: []step{given(web(1, "maxSurge 1, maxUnavailable 0, revisionHistoryLimit 0", within("1", "0"), func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = number(0) })),
				passes(time.Minute), sets("v2")},
			ends: all(complete("v2", 1), kept(1)),
		},
		{
			name:  "how many old revisions are kept",
			shows: "Once the rollout is complete, old ReplicaSets beyond revisionHistoryLimit are deleted, the lowest revision first. There is no undo to those.",
			steps: []step{given(web(1, "maxSurge 1, maxUnavailable 0, revisionHistoryLimit 1", within("1", "0"), func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = number(1) })),
				passes(time.Minute), sets("v2"), passes(time.Minute), sets("v3")},
			ends: all(complete("v3", 1), kept(2), atRevision("v3", "3")),
		},
	}
}

// bare returns a ReplicaSet that belongs to no Deployment.
func bare(name, app, image string, replicas int) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": app}},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: number(replicas), Template: template(app, image),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		},
	}
}

func createsReplicaSet(replicas int) step {
	return func(s *stage) {
		_, _ = create(s.server, &s.server.replicaSets, &s.user, bare("alone", "alone", "v1", replicas))
		s.tale.tells("user", fmt.Sprintf("creates ReplicaSet alone: %d Pods of v1", replicas))
	}
}

func scalesReplicaSet(label string, replicas int) step {
	return func(s *stage) {
		rs := s.named(label)
		scaled := shallow(rs)
		scaled.Spec.Replicas = number(replicas)
		s.writeReplicaSet(rs, scaled)
		s.tale.tells("user", fmt.Sprintf("scales ReplicaSet %s to %d", s.tale.names.plain(rs.Name), replicas))
	}
}

func deletesPod(name string) step {
	return func(s *stage) {
		_ = remove(s.server, &s.server.pods, &s.user, s.podNamed(name).Name, metav1.Preconditions{}, "")
		s.tale.tells("user", "deletes Pod "+name)
	}
}

// arranged makes Pods that differ in one way each.
func arranged() step {
	return func(s *stage) {
		for i, letter := range "abcdefgh" {
			pod := s.podNamed(fmt.Sprintf("web-v1-%c", letter))
			s.changePod(pod, func(p *corev1.Pod) {
				p.Spec.NodeName = fmt.Sprintf("node-%d", i)
				arrange(p, letter, s.clock.Now())
			})
			s.kept[pod.UID] = true
		}
		s.settle()
		begins("Deployment web of 8 Pods, all ready for 2 hours and on nodes of their own, but: c has no node; f is Pending; h is not ready; " +
			"a has a lower deletion cost; g is on the node of b, ready for an hour; d is ready since now; e was restarted")(s)
	}
}

// arrange makes one of those Pods.
func arrange(p *corev1.Pod, letter rune, now time.Time) {
	readySince := func(t time.Time) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(t)}}
	}
	switch letter {
	case 'c':
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
	case 'f':
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	case 'h':
		p.Status.Conditions = nil
	case 'a':
		p.Annotations = merged(p.Annotations, map[string]string{corev1.PodDeletionCost: "-5"})
	case 'g':
		p.Spec.NodeName = "node-1"
		readySince(now.Add(-time.Hour))
	case 'd':
		readySince(now)
	case 'e':
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 3}}
	}
}
