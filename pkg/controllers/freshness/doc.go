// Package freshness lets a control loop read its own writes.
//
// A loop writes to the API server and reads from informer caches, which hear of a
// write a moment later. A sync that starts in between would decide on the past:
// create a Pod that exists already, or scale down twice. So each write is noted
// here with its resourceVersion, and a sync first asks whether the caches have
// read that far. If not, it ends and does nothing: the watch event that brings the
// cache up to date is the one that wakes the key again.
//
// The idea is that of KEP-5647, "stale controller handling".
package freshness
