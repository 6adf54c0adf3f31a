// Package app is the process around the control loops: its flags, its connections to
// the API server, its part in the leader election, its log and its HTTPS port.
//
// Main reads the command line; run.go is the wiring, from top to bottom.
package app
