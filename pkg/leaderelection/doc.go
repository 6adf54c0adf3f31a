// Package leaderelection lets one of several processes lead at a time, by a Lease on
// the API server, and keeps the others from writing.
//
// Run campaigns for the lease, calls a function while this process leads, and
// returns when that is over. It never ends the process. client-go's package of the
// same name speaks the protocol; around it, this one sees to three things:
//
//   - The lease is released after the work has ended, and only then, so that no two
//     processes work at once, and the next leader need not wait for the lease to expire.
//   - A standby watches the lease, so that it notices a release at once.
//   - A Fence under the leader's clients refuses every write once the lease was not
//     renewed in time, also in a process that was frozen and has just woken up.
package leaderelection
