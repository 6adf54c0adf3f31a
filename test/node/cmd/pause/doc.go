// Command pause does nothing until it is told to end: it is the container of Pods that are
// only there to be rolled out, and that which holds the network of every Pod.
package main
