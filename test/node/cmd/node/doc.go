// Command node proves the static pod on a real node; see package node. Start it in the
// project's folder, as root.
package main
