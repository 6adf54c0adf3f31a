// Package deployment is the imperative shell of the Deployment loop: it keeps the
// ReplicaSets of each Deployment as the Deployment wants them.
//
// A sync reads the caches (observe.go), lets the functional core decide (package
// rollout), carries the plan out (apply.go, the only file here that writes
// ReplicaSets), and writes the status, once. What wakes which Deployment is in
// handlers.go; every event is in events.go and every metric in metrics.go.
package deployment
