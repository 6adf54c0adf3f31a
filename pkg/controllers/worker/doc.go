// Package worker turns a queue of keys into calls of a sync function: it takes a
// key, syncs it, and then forgets it, retries it later, or looks again when the
// sync asked for that. Each failure is logged here, once; a panic in one sync is
// logged and counted with its key and stops no other.
package worker
