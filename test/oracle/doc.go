// Package oracle asks the built-in Deployment and ReplicaSet loops what they would do, and
// compares that with what our cores decide.
//
//	make oracle                                                 the usual cases
//	ORACLE_SEED=7 make oracle                                   others
//	ORACLE_SEED=7 ORACLE_CASE=42 go test -run TestDeployment .  one, as a failure names it
//
// With -v it prints how many cases there were, and what differed how often and why.
//
// It is a module of its own, so that the product never imports k8s.io/kubernetes.
//
// # What is asked
//
// Of the built-in's exported functions: the fenceposts, the hash of a template, whether two
// templates are the same, and which of two Pods goes first.
//
// Of the built-in loops themselves, everything else. A random world (a Deployment with up to
// four ReplicaSets and their Pods, or some ReplicaSets with Pods) is put into the caches
// of a real loop, which syncs it once; its writes are taken by a stand-in for the API
// server and never come back to the caches. Our core decides on the same world, at the
// same time to the nanosecond, and its plan is carried out in memory. Then the two
// worlds after it are compared, field by field. This is an oracle for decisions, not an
// end-to-end test: what the API server makes of the writes is asked elsewhere.
//
// All of it happens in bubbles of testing/synctest. In one, the end of a sync is a fact and no
// guess: all goroutines wait. And time stands still meanwhile, so that times are compared as
// they are, and a deadline that ends in this second ends for both.
//
// Not asked are ownership, whose patches belong to the shells, events, and what a Pod looks
// like: the end-to-end tests compare those. A worker that is handed an object whose
// cache lags behind its own writes is not in the game either.
//
// # What is the same
//
// What counts is the effect. The built-in takes several writes where we take one, and
// sometimes several syncs:
//
//   - It gives the new ReplicaSet its annotations and revision in one write and its size in
//     another, and both from the same copy. Then the API server refuses the second, and
//     the loop begins anew with what it has written. So does the stand-in here: it
//     checks resourceVersions of ReplicaSets, and a sync that was in conflict with itself is
//     followed by the one that goes on. The two together are compared with one of ours.
//   - It scales an old ReplicaSet down twice, first by its broken Pods and then by others.
//     Ours is the sum: the sizes at the end are compared.
//   - It writes the Deployment's revision, a condition and the counts one after the other,
//     each from its first copy. The last one is compared, as if none had been in conflict;
//     a status that is refused is written in the next sync.
//
// From a step the walk goes on with what either loop has left, after Pods have come and gone
// and users have changed their minds. So the two also take over from each other, at any
// moment.
//
// # What differs
//
// A difference is a fault, of ours mostly, or it is known: knownDifferences and
// knownInReplicaSets name each of those, with what ours is better for and the fields that
// it excuses. Each counts how often it does. One that never does fails the test: it
// describes something that is gone, or that the cases do not show.
//
// One thing is kept from the cases, since it is fatal to the built-in loop: it divides by the
// age of the youngest ready Pod in milliseconds when it chooses which Pods go, and panics if
// that is 0.
package oracle
