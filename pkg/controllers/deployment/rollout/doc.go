// Package rollout is the functional core of the Deployment loop.
//
// Decide says what to do next for a Deployment, given a Snapshot of everything the
// decision may depend on, and why; Status says what to report once that has been
// carried out. Both are pure: no client, no clock, no logger, no context. The same
// Snapshot always gives the same Plan, so a rollout can be tested as a value,
// simulated, printed, or not carried out at all.
//
// Vocabulary:
//
//   - The new ReplicaSet is the one whose Pod template is the Deployment's; all
//     others are old.
//   - A ReplicaSet is active while its spec.replicas is above zero.
//   - The fenceposts are maxSurge and maxUnavailable, resolved to numbers of Pods.
//   - A revision numbers the templates of a Deployment in the order in which they
//     became current.
package rollout
