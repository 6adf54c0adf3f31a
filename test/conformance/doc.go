// Package conformance runs Kubernetes' own end-to-end tests of Deployments and
// ReplicaSets against the controller-manager, on a local control plane:
//
//	make conformance
//	CONTROLLERS=builtin make conformance    # the same under the built-in loops
//
// The specs come from the module k8s.io/kubernetes, unchanged. They are built into a
// program of their own (specs, a module of its own, so that nothing else here waits
// for its build). Each spec runs in a process of its own and in a namespace of its own,
// all of them at the same time: they mostly wait.
//
// What comes of it is written to build/conformance: junit.xml, with all that a spec
// said, table.md, with a row for each spec, and the log of the controllers. 18 specs are
// meant for any cluster. One of them cannot pass here, because it asks a container for
// an answer and no container runs; each of the others must. Two more specs are for
// clouds and are left out.
//
// Nothing leaves the machine: the addresses of the fake Pods are of the loopback
// network, and the API server refuses to talk to a Pod there.
package conformance
