// Package takeover notices that another program runs the same control loops: mostly a
// kube-controller-manager whose own were not turned off. Two at once undo each other's
// work, and look healthy each.
//
// It is seen in managedFields, where the API server notes who wrote the status of an
// object, and when. Check.See is shown every state of an object on its way into a cache,
// which then keeps nothing of it, so that the check costs no request and no memory per
// object.
//
// # Which writes count
//
// Those of the status, by any manager but ourselves and kubectl, since this process leads:
// no other program has a reason to write the status of a Deployment or a ReplicaSet. The
// name of the built-in loops is not looked for, since it is another one where they are part
// of another program (such as "k3s"). An autoscaler writes the subresource "scale", and so
// does not count. Nor does kubectl: it is in a person's hand, who may write many at once.
//
// A loop writes again and again; what writes once or twice is another tool in a person's
// hand, and is counted in the metric but otherwise passed over. More writes than two, and
// two more for every minute, are a loop.
//
// # Since this process leads
//
// The times in managedFields are the API server's, in whole seconds, and are never compared
// with our clock. Until this process leads, the newest of them is remembered. All that is
// later was not there when it began to lead: so what the built-in loops, or another process
// of ours, wrote before is never taken for a new write, however often it is seen again. An
// API server whose clock was ahead delays the check by as much; it causes no false alarm.
package takeover
