// Package telling decides what is told of things that come in bursts, such as the Pods that are
// made for one ReplicaSet: the first ones are told one by one, and those beyond are summed up,
// so that nothing that happened goes untold and no burst becomes a flood of events.
//
// The recorders of client-go have limits too, but what is beyond those is lost: 25 events
// about one object, and then one every five minutes (client-go's tools/record, events_cache.go).
package telling
