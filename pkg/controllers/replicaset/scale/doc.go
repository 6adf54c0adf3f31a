// Package scale is the functional core of the ReplicaSet loop.
//
// Decide says how many Pods to create, or which ones to delete, given a Snapshot of
// everything the decision may depend on, and why. Status says what to report once that
// has been carried out. Both are pure: no client, no clock, no logger, no context. The
// same Snapshot always gives the same Plan, so a ReplicaSet can be tested as a value,
// simulated, printed, or left alone after all.
//
// Vocabulary:
//
//   - A Pod is active while it counts towards the size: it has not run to its end, and
//     nobody has asked for its deletion.
//   - A Pod is terminating when its deletion was asked for and it may still run.
//   - Siblings are the active Pods of all ReplicaSets that have the same owner, so of
//     one Deployment.
//   - A snapshot is settled when the caches it was read from have seen all that this
//     loop has written for the ReplicaSet.
package scale
