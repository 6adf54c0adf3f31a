// Localcluster runs a real Kubernetes control plane on this machine, with the
// controller-manager on it or without.
package main
