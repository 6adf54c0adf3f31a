// Package controllers is the home of the two control loops. It holds no code, only
// the map.
//
// # How a change becomes Pods
//
//	API server ──list and watch──▶ Reflector ─▶ FIFO ─────▶ Indexer (the cache)
//	                                            (RealFIFO,      │
//	                                             once DeltaFIFO)│
//	                                                     event handlers     handlers.go
//	                                                            │ key
//	                                                        workqueue       package worker
//	                                                            │ key
//	     ┌──────────────────────── sync ────────────────────────┴───┐       controller.go
//	     │ observe   caches → Snapshot                              │       observe.go
//	     │ Decide    Snapshot → Plan      (pure: the core)          │       rollout, scale
//	     │ apply     Plan → Outcome       (the only writes)         │       apply.go
//	     │ Status    Snapshot, Plan, Outcome → status (pure)        │       rollout, scale
//	     └──────────────────────────┬───────────────────────────────┘
//	                                ▼
//	                           API server
//
// The Deployment loop writes ReplicaSets, the ReplicaSet loop writes Pods. Neither
// calls the other: what one writes, the other's informer sees. A sync that fails is
// retried; one that finds nothing to do writes nothing. So the loops can be stopped
// and started at any moment, and what is always becomes what is wanted.
//
// # Vocabulary
//
//   - Snapshot: everything that a decision may depend on, read once.
//   - Plan: what to do, as data, each part with its reason (Why).
//   - Outcome: what came of it.
//   - Active, ready, available, terminating: see package pods.
//   - New and old ReplicaSet, fenceposts, revision: see package rollout.
//
// # The import rule
//
// Imports point downward only:
//
//	cmd/controller-manager/app
//	  → takeover                                   whether another program runs the same loops
//	  → deployment, replicaset                     the shells: clients, queues, clocks, logs
//	    → worker, freshness, ownership, watched, skew, telling
//	                                               what both shells need
//	    → deployment/rollout, replicaset/scale     the cores: pure functions
//	      → pods                                   pure questions about one Pod
//	        → k8s.io/api, k8s.io/apimachinery, k8s.io/utils/dump, the standard library
//
// The two cores do not know each other; only package simulation, which is for tests, sees both
// loops. The linter enforces all of it.
package controllers
