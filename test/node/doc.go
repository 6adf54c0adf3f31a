// Package node proves deploy/ on a real node: the shipped static pod, byte for byte, under a real
// kubelet and containerd, beside the control plane of package localcluster:
//
//	make node
//
// It needs Linux and root. The steps (steps) do what deploy/README.md tells an operator to do, one
// after the other, and each fails if what it says is not so. What comes of it is written to
// build/node: report.md, with a row for each step and what was seen in it, and the logs.
//
// Nothing of it touches the machine. Run starts the program once more (Inside), as the first process
// of new namespaces: of processes, so that the kernel ends all of them with the first one, however
// that ends; of mounts, with copies of /etc, /var/lib and /var/log that take what is written there;
// of the network, which has no way out; of control groups, in a group of its own that Run removes. Who
// kills Run with SIGKILL ends all processes too, and leaves an empty group and a temporary folder.
//
// It is for machines where each controller of control groups has a hierarchy of its own (version 1),
// where all steps have been seen to pass, and for those where all share one (version 2). There it
// has been seen to start the kubelet, on a machine whose version 2 had no controllers for containers.
package node
