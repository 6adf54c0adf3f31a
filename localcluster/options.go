package localcluster

import (
	"fmt"
	"slices"
	"strings"
)

// The components of a cluster, under the names of their executables. They are
// the keys of Options.ExtraArgs and the arguments of Cluster.Component.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	Scheduler         = "kube-scheduler"
	ControllerManager = "kube-controller-manager"
	Kwok              = "kwok"

	// Kubectl is no component, but it is built with them.
	Kubectl = "kubectl"
	// Kubeadm is built by BuildOnDemand only, like all that follow; OldKubeadm is the last
	// version that reads configuration of its API version v1beta3.
	Kubeadm    = "kubeadm"
	OldKubeadm = "kubeadm-1.36"
	// Kubelet, and the container runtime that it needs: Containerd starts ContainerdShim, which
	// has to be on its PATH, for each Pod; Ctr is its command line.
	Kubelet        = "kubelet"
	Containerd     = "containerd"
	ContainerdShim = "containerd-shim-runc-v2"
	Ctr            = "ctr"
)

// Labels and values by which a Pod tells KWOK how to treat it; see the package
// comment.
const (
	ModeLabel = "lab.controller-manager/mode"
	ModeSlow  = "slow"
	ModeNever = "never"
	ModeFail  = "fail"
)

const defaultNodes = 10

// Options say what to start. The zero value is a cluster of 10 nodes without
// the Deployment and ReplicaSet loops.
type Options struct {
	// Dir takes everything the cluster writes: data, logs, certificates,
	// kubeconfigs. What an earlier cluster left there is removed first. Empty:
	// a new temporary folder, which Stop removes.
	Dir string

	// Log receives one line for each step of the start. nil: no lines.
	Log func(format string, args ...any)

	// Nodes is the number of fake nodes, kwok-node-0 and so on. 0 means 10.
	Nodes int

	// BuiltinLoops leaves the Deployment and ReplicaSet loops of
	// kube-controller-manager on, with its default limits on requests: the
	// cluster to compare ours with.
	BuiltinLoops bool

	// Without names components that are not started. Only Scheduler,
	// ControllerManager and Kwok can be left out. Without Kwok there are no nodes.
	Without []string

	// ExtraArgs are flags added to a component's own, by its name, each as
	// --flag=value. They take the place of its own flags of the same name.
	ExtraArgs map[string][]string
}

func (o Options) validate() error {
	for _, name := range o.Without {
		if !slices.Contains([]string{Scheduler, ControllerManager, Kwok}, name) {
			return fmt.Errorf("option Without: %q cannot be left out; only %s, %s and %s can", name, Scheduler, ControllerManager, Kwok)
		}
	}
	for name := range o.ExtraArgs {
		if !slices.Contains(ComponentNames(), name) {
			return fmt.Errorf("option ExtraArgs: there is no component %q; there are %s", name, strings.Join(ComponentNames(), ", "))
		}
	}
	if o.Nodes < 0 {
		return fmt.Errorf("option Nodes: %d is negative; 0 means %d nodes, and Without %s means none", o.Nodes, defaultNodes, Kwok)
	}
	return nil
}

func (o Options) nodes() int {
	switch {
	case !o.has(Kwok):
		return 0
	case o.Nodes == 0:
		return defaultNodes
	default:
		return o.Nodes
	}
}

func (o Options) has(component string) bool {
	return !slices.Contains(o.Without, component)
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// ComponentNames lists the components of a cluster in the order in which they are started.
func ComponentNames() []string {
	return []string{Etcd, APIServer, Scheduler, ControllerManager, Kwok}
}
