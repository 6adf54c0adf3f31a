// Package lab is what tests of controllers stand in: a cluster (package localcluster) with
// the controllers under test on it, ours or the built-in loops (Lab), and for each test a
// namespace of its own (Space), in which every state of every Deployment, ReplicaSet, Pod
// and Event is recorded in the order in which the API server made it (Story). So a test can
// wait for what it expects without polling, and check a rule at every single step. What a
// process wrote is read from the API server's audit log, and what goes wrong between it and
// the API server is made to go wrong by a proxy (Between).
//
// The methods of a Space end the test when something goes wrong. The program under test is
// bin/controller-manager, two folders above that of the tests; make build makes it.
package lab
