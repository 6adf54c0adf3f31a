// Package deploy proves what is in the folder deploy/ of the project:
//
//   - every manifest is accepted by a real API server, also by its checks of how far a Pod is
//     trusted (manifests_test.go, podsecurity_test.go);
//   - kubeadm makes of the configuration for kind what it is meant to (kubeadm_test.go);
//   - the permissions are those that the program uses, and no others (permissions_test.go):
//     it is started with the flags of the manifests, and made to do everything it can;
//   - each alert fires when it should and is silent otherwise (alerts_test.go), and each query
//     of the alerts and of the dashboard asks for metrics that the program has
//     (queries_test.go).
//
// The program is ../../bin/controller-manager; make build makes it. The go.mod names a program of
// the Prometheus operator as a tool, only to have the module's files at hand: the
// CustomResourceDefinitions are among them.
package deploy
