// Package replicaset is the imperative shell of the ReplicaSet loop: it keeps as many Pods
// of each ReplicaSet as the ReplicaSet wants.
//
// A sync reads the caches (observe.go), lets the functional core decide (package scale),
// carries the plan out (apply.go, the only file here that writes Pods), and writes the
// status, once. What wakes which ReplicaSet is in handlers.go; every event is in events.go
// and every metric in metrics.go.
//
// Two things make the number of Pods exact although the caches are behind and answers get
// lost: inflight.go remembers the requests whose effect has not been seen, and pod.go
// gives each Pod its name before it is created, so that a create can be repeated without
// making a second Pod. pace.go keeps a template that cannot be created from costing
// hundreds of requests.
package replicaset
