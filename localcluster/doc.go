// Package localcluster runs a real Kubernetes control plane on one machine,
// for trying the controller-manager out and for its end-to-end tests.
//
// A cluster is five processes on free ports of 127.0.0.1: etcd, kube-apiserver
// (TLS, RBAC, audit log), kube-scheduler, kube-controller-manager and KWOK,
// which plays the kubelets of fake nodes. By default kube-controller-manager
// runs without its Deployment and ReplicaSet loops, because that is the place
// of the controller-manager; everything else (garbage collection, namespaces,
// service accounts, quota) is the real thing.
//
//	cluster, err := localcluster.Start(ctx, localcluster.Options{Log: t.Logf})
//	defer cluster.Stop()
//	client := kubernetes.NewForConfigOrDie(cluster.AdminConfig())
//
// Each process can be stopped, killed, frozen, thawed and restarted on its own
// (Process). A program under test is started beside them with Launch and is
// handled in the same way. On Linux the kernel kills every one of them when the
// process that called Start dies, however it dies; elsewhere Stop must be called.
//
// Proxy puts a proxy (package proxy) between the API server and one program, for tests
// of what goes wrong on the way.
//
// The executables are built from source on first use, by the modules under
// tools/, and kept in the user's cache folder (Build).
//
// # Fake pods
//
// KWOK makes a Pod that was assigned to a node Running and Ready at once, with
// all of its containers. The label ModeLabel on a Pod asks for something else:
//
//	lab.controller-manager/mode: slow    Running and Ready 3 seconds after it was assigned
//	lab.controller-manager/mode: never   stays Pending
//	lab.controller-manager/mode: fail    phase Failed 100 milliseconds after it was assigned
//
// No image is ever pulled, but some names stand for one that cannot be: one with the
// tag 404 (web:404), and one of a registry in the domain "invalid", which RFC 6761 keeps
// from existing (registry.invalid/web:1). A Pod that has one, also for an init container,
// stays Pending with all its containers waiting, ImagePullBackOff, until it is deleted or
// its image is changed to one that can be pulled.
//
// A Pod is only made ready while its phase is Pending, so a test may patch the
// status of a running Pod and KWOK leaves it as patched. A Pod that was
// deleted is removed at once, unless it has finalizers: then it stays
// Terminating until they are gone.
package localcluster
