// Command conformance runs Kubernetes' own end-to-end tests of Deployments and
// ReplicaSets; see package conformance. Start it in the project's folder.
package main
