// Package better proves what docs/better.md claims: each fault that users have reported and
// that the built-in loops still have is a test with one script. It is run under the built-in
// loops, where the fault has to be seen, and under ours, where it must not be: on the same
// cluster, one after the other, with the same flags.
//
//	make better
//
// prints what came of each script, with what was counted. The cells of the table are what the
// scripts say: a test fails if they differ, and
//
//	go test -update
//
// writes them. A cell holds only what every run has in common; how many requests a fault
// took in this run is in the line that is printed.
//
// Where the same comes of both, because the built-in loops have been mended or nothing better
// can be known, the script says so in a second table (alike_test.go): what is not claimed
// is checked too.
package better
