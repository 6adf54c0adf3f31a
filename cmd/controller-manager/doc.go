// Command controller-manager runs the Deployment and the ReplicaSet control loop of
// Kubernetes, in the place of those two of kube-controller-manager.
package main
