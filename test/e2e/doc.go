// Package e2e proves the controller-manager from the outside: its tests start the
// real program beside a real control plane (package localcluster), change things as
// a user does, through client-go and kubectl, and watch what becomes of them.
//
//	make build
//	cd test/e2e && go test ./...
//
// One cluster serves all tests; each works in a namespace of its own (type space), in which
// all that happens is recorded: see package lab.
//
// What goes wrong between a program and the API server is made to go wrong by a proxy
// (function behindProxy), whose rules count what they acted on: a rule that met no request fails
// its test.
//
// E2E_CONTROLLERS=builtin runs the same tests against the Deployment and ReplicaSet
// loops of kube-controller-manager, except for those that are about our process.
// They pass there too: that is a check of the tests, and of the claim of parity.
//
// Parity in detail is proved by comparison with golden files that say what the built-in
// loops do: the ends of many scenarios, field by field (TestSideBySide, testdata/sidebyside)
// and the names of ReplicaSets (TestSameNames, testdata/names.json). Both kinds of runs
// compare with them, so "make parity" proves that the files are still true and that ours
// does the same. After an upgrade of Kubernetes they are written anew with
//
//	E2E_CONTROLLERS=builtin go test -run 'TestSideBySide|TestSameNames' -update
package e2e
