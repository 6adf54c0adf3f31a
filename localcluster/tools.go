package localcluster

import (
	"fmt"
	"strings"
)

// toolModule is a module under tools/ and what is built from it.
type toolModule struct {
	folder string
	// source is the module whose version in go.mod is the version of the programs.
	source string
	// programs are package paths by the names of the executables, in build order.
	programs []program
	// onDemand are those that no cluster needs.
	onDemand []program
	// linkFlags puts the version into the programs.
	linkFlags func(version string) string
}

type program struct{ name, path string }

func toolModules() []toolModule {
	return []toolModule{{
		folder:    "etcd",
		source:    "go.etcd.io/etcd/server/v3",
		programs:  []program{{Etcd, "go.etcd.io/etcd/server/v3"}},
		linkFlags: func(string) string { return "-s -w" },
	}, {
		folder: "kubernetes",
		source: "k8s.io/kubernetes",
		programs: []program{
			{APIServer, "k8s.io/kubernetes/cmd/kube-apiserver"},
			{ControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager"},
			{Scheduler, "k8s.io/kubernetes/cmd/kube-scheduler"},
			{Kubectl, "k8s.io/kubernetes/cmd/kubectl"},
		},
		onDemand:  []program{{Kubeadm, "k8s.io/kubernetes/cmd/kubeadm"}},
		linkFlags: kubernetesLinkFlags,
	}, {
		// Apart from the others, which would be built anew whenever it needs another module.
		folder:    "kubelet",
		source:    "k8s.io/kubernetes",
		onDemand:  []program{{Kubelet, "k8s.io/kubernetes/cmd/kubelet"}},
		linkFlags: kubernetesLinkFlags,
	}, {
		folder:    "kubeadm136",
		source:    "k8s.io/kubernetes",
		onDemand:  []program{{OldKubeadm, "k8s.io/kubernetes/cmd/kubeadm"}},
		linkFlags: kubernetesLinkFlags,
	}, {
		folder: "containerd",
		source: "github.com/containerd/containerd/v2",
		onDemand: []program{
			{Containerd, "github.com/containerd/containerd/v2/cmd/containerd"},
			{ContainerdShim, "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"},
			{Ctr, "github.com/containerd/containerd/v2/cmd/ctr"},
		},
		linkFlags: func(version string) string {
			return "-s -w -X github.com/containerd/containerd/v2/version.Version=" + version
		},
	}, {
		folder:   "kwok",
		source:   "sigs.k8s.io/kwok",
		programs: []program{{Kwok, "sigs.k8s.io/kwok/cmd/kwok"}},
		linkFlags: func(version string) string {
			return "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=" + version
		},
	}}
}

// kubernetesLinkFlags sets what a release build of Kubernetes sets. Without it
// the programs call themselves v0.0.0, and kubectl refuses to talk to them.
func kubernetesLinkFlags(version string) string {
	flags := "-s -w"
	numbers := append(strings.Split(strings.TrimPrefix(version, "v"), "."), "", "")
	for _, path := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags += fmt.Sprintf(" -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s", path, version, numbers[0], numbers[1])
	}
	return flags
}
