// Package pods answers the questions both control loops ask of a single Pod:
// is it active, ready, available (and if not yet, when), how dear is it?
//
// Everything here is a pure function of the Pod and, where it matters, of a
// point in time. The package also says which fields of a Pod the loops read at
// all (Trim), so that the informer cache need not hold the rest.
package pods
