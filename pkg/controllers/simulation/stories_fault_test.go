package simulation

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// faultStories are about requests that fail, and processes that die.
func faultStories() []golden {
	return []golden{
		{
			name:  "a quota refuses, and then there is room",
			shows: "The quota has no room for the surge. ReplicaFailure says why, at the ReplicaSet and at the Deployment, and the tries are ever fewer; once there is room the rollout goes on.",
			steps: []step{given(web(3, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), quota(3, "allows 3 Pods in the namespace"), sets("v2"), passes(40 * time.Second),
				quota(0, "allows any number of Pods")},
			ends: all(complete("v2", 3), reports(appsv1.DeploymentReplicaFailure, "")),
		},
		{
			name:  "a quota has room for some",
			shows: "With room for 2 of 3 Pods there are 2: the third is asked for again, with ever longer waits between.",
			steps: []step{quota(2, "allows 2 Pods in the namespace"), creates(web(3, "maxSurge 25%, maxUnavailable 25%")), passes(20 * time.Second), quota(0, "allows any number of Pods")},
			ends:  all(complete("v1", 3), reports(appsv1.DeploymentReplicaFailure, "")),
		},
		{
			name:  "a new ReplicaSet is refused",
			shows: "A webhook refuses the new ReplicaSet once. The Deployment says so, and tries again.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2"), meets(forbidden, 0)},
			ends:  complete("v2", 2),
		},
		{
			name:  "the creation of a ReplicaSet is not answered",
			shows: "The ReplicaSet was made and the answer got lost. Its name follows from the template, so it is found again and not made twice.",
			steps: []step{given(web(2, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2"), meets(lostAnswer, 0)},
			ends:  all(complete("v2", 2), kept(2)),
		},
		{
			name:  "the creation of a Pod is not answered",
			shows: "The Pod was made and the answer got lost. The loop chose its name and asks by it: there is one Pod and not two.",
			steps: []step{meets(lostAnswer, 3), creates(web(3, "maxSurge 25%, maxUnavailable 25%"))},
			ends:  complete("v1", 3),
		},
		{
			name:  "somebody else was faster",
			shows: "A write meets a conflict, since the object has changed meanwhile. The loop looks again and decides anew.",
			steps: []step{given(web(2, "maxSurge 1, maxUnavailable 0", within("1", "0"))), passes(time.Minute), sets("v2"), passes(3 * time.Second), meets(conflict, 2)},
			ends:  complete("v2", 2),
		},
		{
			name:  "a request arrives late",
			shows: "A patch hangs in the network and the loop gives up on it. When it arrives after all, what it was decided on has changed, and the API server refuses it by its resourceVersion.",
			steps: []step{given(web(4, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2"), meets(late, 1), passes(time.Second), arrives()},
			ends:  complete("v2", 4),
		},
		{
			name:  "the leader dies in the middle of a step",
			shows: "The process dies after it has made the new ReplicaSet and before it has shrunk the old one. The next leader sees what is there and goes on: nothing is written down but the objects.",
			steps: []step{given(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(time.Minute), sets("v2"), meets(crashBefore, 1), passes(15 * time.Second), leads()},
			ends:  all(complete("v2", 10), kept(2)),
		},
		{
			name:  "the leader dies while it makes Pods",
			shows: "Three of ten Pods are made when the process dies. The next leader counts, and makes the rest.",
			steps: []step{meets(crashAfter, 4), creates(web(10, "maxSurge 25%, maxUnavailable 25%")), passes(15 * time.Second), leads()},
			ends:  complete("v1", 10),
		},
	}
}
