// Command specs is the part of Kubernetes' own end-to-end tests that is about
// Deployments and ReplicaSets, as a program: all specs of its package for apps,
// with the flags of its test framework and of Ginkgo. Command conformance runs it.
//
// Kubernetes' own main package for these tests holds the specs of every other
// subject as well, and takes as long to build as a control plane.
package main
