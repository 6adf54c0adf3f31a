// Package filelock takes locks that the operating system gives back when their
// holder ends, however it ends.
package filelock
