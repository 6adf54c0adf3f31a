// Package ownership decides which objects a controller manages and records that
// in their owner references.
//
// The reference marked controller=true, not the label selector, says who manages
// an object. Labels only say who may ask for it: a matching object that nobody
// controls is adopted, a controlled one that stops matching is released. Sort
// decides that without touching anything; Settle carries it out.
package ownership
