package node

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"controller-manager/localcluster"
)

const (
	nodeName = "node-1"
	// nodeAddress is one that RFC 5737 keeps for documentation.
	nodeAddress = "192.0.2.1"
	// manifests is the kubelet's folder of static pods.
	manifests = "/etc/kubernetes/manifests"
	// socket is where containerd serves.
	socket = "/run/containerd/containerd.sock"
	// pauseImage and its other name are all that Pods here run besides the program.
	pauseImage      = "docker.io/library/pause:1"
	otherPauseImage = "docker.io/library/pause:2"
)

//go:embed config
var configFiles embed.FS

// machine is the control plane, the kubelet and containerd.
type machine struct {
	options Options
	work    string
	cluster *localcluster.Cluster
	client  kubernetes.Interface
	ctr     string // path of the program

	restarts int               // of kube-controller-manager
	rollouts int               // of web
	before   map[string]string // what versionsOf idle was before the work changed hands
}

// start starts everything, and returns when the node takes Pods.
func (m *machine) start(ctx context.Context) (err error) {
	if m.cluster, err = localcluster.Start(ctx, m.clusterOptions()); err != nil {
		return err
	}
	if m.client, err = kubernetes.NewForConfig(m.cluster.AdminConfig()); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for _, step := range []func(context.Context) error{m.writeConfig, m.grant, m.startContainerd, m.loadImages, m.startKubelet} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeConfig writes the files that the kubelet, containerd and the network plugins read, and what
// kubeadm puts into /etc/kubernetes.
func (m *machine) writeConfig(context.Context) error {
	values := struct{ Work, Pause string }{m.work, pauseImage}
	for file, target := range map[string]string{"kubelet.yaml": "kubelet.yaml", "containerd.toml": "containerd.toml", "net.conflist": "net/net.conflist"} {
		parsed, err := template.ParseFS(configFiles, "config/"+file)
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		var text bytes.Buffer
		if err := parsed.Execute(&text, values); err != nil {
			return fmt.Errorf("filling in %s: %w", file, err)
		}
		if err := place(text.Bytes(), filepath.Join(m.work, target), 0o600); err != nil {
			return err
		}
	}
	if err := place(m.cluster.AdminConfig().CAData, filepath.Join(m.work, "ca.crt"), 0o600); err != nil {
		return err
	}
	credentials, err := os.ReadFile(m.cluster.KubeconfigPath(localcluster.ControllerManager))
	if err != nil {
		return fmt.Errorf("reading the credentials of kube-controller-manager: %w", err)
	}
	if err := os.MkdirAll(manifests, 0o700); err != nil {
		return fmt.Errorf("making the folder of static pods: %w", err)
	}
	return place(credentials, "/etc/kubernetes/controller-manager.conf", 0o600)
}

// grant lets the API server ask the kubelet for logs, as kubeadm does with a certificate.
func (m *machine) grant(ctx context.Context) error {
	_, err := m.cluster.Kubectl(ctx, "create", "clusterrolebinding", "kube-apiserver-kubelet",
		"--clusterrole=system:kubelet-api-admin", "--user="+localcluster.APIServer)
	return err
}

func (m *machine) startContainerd(ctx context.Context) (err error) {
	paths := map[string]string{}
	for _, name := range []string{localcluster.Containerd, localcluster.ContainerdShim, localcluster.Ctr} {
		if paths[name], err = localcluster.BuildOnDemand(ctx, name, m.options.Log); err != nil {
			return err
		}
	}
	m.ctr = paths[localcluster.Ctr]
	return m.launch(ctx, localcluster.Command{
		Name: localcluster.Containerd,
		Path: paths[localcluster.Containerd],
		Args: []string{"--config=" + filepath.Join(m.work, "containerd.toml")},
		Env:  []string{"PATH=" + filepath.Dir(paths[localcluster.ContainerdShim]) + ":" + os.Getenv("PATH")},
		Ready: func(ctx context.Context) error {
			_, err := m.runCtr(ctx, "version")
			return err
		},
	})
}

func (m *machine) loadImages(ctx context.Context) error {
	for _, archive := range []string{"image.tar", "pause.tar"} {
		if _, err := m.runCtr(ctx, "images", "import", filepath.Join(m.options.Images, archive)); err != nil {
			return err
		}
	}
	_, err := m.runCtr(ctx, "images", "tag", pauseImage, otherPauseImage)
	return err
}

func (m *machine) startKubelet(ctx context.Context) error {
	kubelet, err := localcluster.BuildOnDemand(ctx, localcluster.Kubelet, m.options.Log)
	if err != nil {
		return err
	}
	kubeconfig, err := m.cluster.Kubeconfig("system:node:"+nodeName, "system:nodes")
	if err != nil {
		return err
	}
	return m.launch(ctx, localcluster.Command{
		Name: localcluster.Kubelet,
		Path: kubelet,
		Args: []string{
			"--config=" + filepath.Join(m.work, "kubelet.yaml"),
			"--kubeconfig=" + kubeconfig,
			"--root-dir=" + filepath.Join(m.work, "kubelet"),
			"--hostname-override=" + nodeName,
			"--node-ip=" + nodeAddress,
			"--v=2",
		},
		Ready: m.nodeReady,
	})
}

// nodeReady is nil when the node takes Pods.
func (m *machine) nodeReady(ctx context.Context) error {
	node, err := m.client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Node: %w", err)
	}
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("it has the taint %s", node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("it is not ready: %s", condition.Message)
		}
	}
	return nil
}

func (m *machine) launch(ctx context.Context, command localcluster.Command) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	if _, err := m.cluster.Launch(ctx, command); err != nil {
		return err
	}
	m.options.Log("started %s in %.1f s", command.Name, time.Since(began).Seconds())
	return nil
}

// versions are those of what takes part.
func (m *machine) versions(ctx context.Context) ([]string, error) {
	node, err := m.client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the Node: %w", err)
	}
	runc, err := exec.CommandContext(ctx, "runc", "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("asking runc for its version: %w", err)
	}
	first, _, _ := strings.Cut(string(runc), "\n")
	mounted, err := hierarchies()
	if err != nil {
		return nil, err
	}
	groups := "control groups: version 1"
	if mounted.unified {
		groups = "control groups: version 2"
	}
	info := node.Status.NodeInfo
	return []string{
		"kubelet " + info.KubeletVersion, info.ContainerRuntimeVersion, first, "Linux " + info.KernelVersion, groups,
	}, nil
}

// runCtr runs containerd's command line on the kubelet's containers.
func (m *machine) runCtr(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.ctr, append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...) //nolint:gosec // the arguments are ours
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("running ctr %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return string(output), nil
}
