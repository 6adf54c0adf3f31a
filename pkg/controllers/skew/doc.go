// Package skew is about API servers of other versions than the one this program was made
// for, and about their feature gates.
package skew
