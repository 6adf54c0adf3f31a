// Package metrics keeps the numbers of the process and serves them.
//
// New makes the registry that the control loops add theirs to. It already holds
// those of the Go runtime, of the process, of the build, and those of client-go:
// requests, work queues and leader election, under the names, labels and buckets
// that the programs of Kubernetes use, so that dashboards and alerts made for
// kube-controller-manager work unchanged.
//
// No label may hold the name of an object or of a namespace: the number of series
// must not grow with the cluster.
package metrics
