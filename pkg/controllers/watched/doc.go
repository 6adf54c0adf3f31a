// Package watched turns the callbacks of an informer into one function of two states of
// an object, before and after, with the types and the special cases taken care of.
package watched
