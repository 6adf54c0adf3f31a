// Package mutants shows that the simulation can fail. It makes small wrong changes to the
// program, one at a time: an off-by-one in a bound, a missed tie-break, a forgotten check. The
// quick part of the simulation must notice each one.
//
// The changes are in list_test.go, as text to be replaced. No file of the tree is touched:
// the compiler is given the changed file in place of the real one (go build -overlay). A text
// that is not found exactly once fails the test: then the change has to follow the code.
//
//	make mutants
package mutants
