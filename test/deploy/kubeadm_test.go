package deploy

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"controller-manager/localcluster"
)

// loopsOff is what the flag --controllers of kube-controller-manager needs in addition.
const loopsOff = ",-deployment-controller,-replicaset-controller"

// kindConfig reads the configuration, in which fields that kind does not know are errors.
func kindConfig(t *testing.T) v1alpha4.Cluster {
	t.Helper()
	text, err := os.ReadFile(folder + "/kind/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config v1alpha4.Cluster
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// TestKindMountsTheStaticPod looks at the path, which is meant from the project's folder.
func TestKindMountsTheStaticPod(t *testing.T) {
	var mounted []string
	for _, node := range kindConfig(t).Nodes {
		for _, mount := range node.ExtraMounts {
			pod := podOf(t, filepath.Join("..", "..", mount.HostPath))
			mounted = append(mounted, pod.Name+" in "+path.Dir(mount.ContainerPath))
		}
	}
	if diff := cmp.Diff([]string{"controller-manager in /etc/kubernetes/manifests"}, mounted); diff != "" {
		t.Errorf("what is mounted (-want +got):\n%s", diff)
	}
}

// The versions of kubeadm's configuration.
const (
	v1beta3 = "kubeadm.k8s.io/v1beta3"
	v1beta4 = "kubeadm.k8s.io/v1beta4"
)

// kubeadms are programs that read a version. The one for v1beta3 takes minutes to build, so it
// is only asked when KUBEADM=all.
func kubeadms() map[string]string {
	programs := map[string]string{v1beta4: localcluster.Kubeadm}
	if os.Getenv("KUBEADM") == "all" {
		programs[v1beta3] = localcluster.OldKubeadm
	}
	return programs
}

// patches are those of kind's configuration, by the version of kubeadm's.
func patches(t *testing.T) map[string]string {
	t.Helper()
	byVersion := map[string]string{}
	for _, patch := range kindConfig(t).KubeadmConfigPatches {
		var object struct{ APIVersion string }
		if err := yaml.Unmarshal([]byte(patch), &object); err != nil {
			t.Fatal(err)
		}
		byVersion[object.APIVersion] = patch
	}
	return byVersion
}

// TestKubeadmTurnsTheLoopsOff gives the patches to kubeadm, which checks them and writes the
// static pod of kube-controller-manager. Nothing but the one flag may differ from what it
// writes without them.
func TestKubeadmTurnsTheLoopsOff(t *testing.T) {
	for version, name := range kubeadms() {
		t.Run(version, func(t *testing.T) {
			kubeadm, err := localcluster.BuildOnDemand(t.Context(), name, t.Logf)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, arg := range writtenBy(t, kubeadm, "apiVersion: "+version+"\nkind: ClusterConfiguration\n") {
				if strings.HasPrefix(arg, "--controllers=") {
					arg += loopsOff
				}
				want = append(want, arg)
			}
			slices.Sort(want) // what a user sets comes last
			got := writtenBy(t, kubeadm, patches(t)[version])
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the command of kube-controller-manager (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBothVersionsSayTheSame compares the patches: v1beta3 has a map of flags where v1beta4 has a
// list.
func TestBothVersionsSayTheSame(t *testing.T) {
	type object[Flags any] struct {
		APIVersion, Kind  string
		ControllerManager struct{ ExtraArgs Flags }
	}
	var before object[map[string]string]
	var now object[[]struct{ Name, Value string }]
	if err := yaml.UnmarshalStrict([]byte(patches(t)[v1beta3]), &before); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(patches(t)[v1beta4]), &now); err != nil {
		t.Fatal(err)
	}
	flags := map[string]string{}
	for _, flag := range now.ControllerManager.ExtraArgs {
		flags[flag.Name] = flag.Value
	}
	if diff := cmp.Diff(flags, before.ControllerManager.ExtraArgs); diff != "" || before.Kind != now.Kind {
		t.Errorf("%s and %s (-v1beta4 +v1beta3):\n%s", now.Kind, before.Kind, diff)
	}
}

// writtenBy returns the command of kube-controller-manager that kubeadm makes of a
// ClusterConfiguration.
func writtenBy(t *testing.T, kubeadm, config string) []string {
	t.Helper()
	// Without a version it would ask the internet for the newest.
	config += "\nkubernetesVersion: " + strings.TrimSpace(runKubeadm(t, kubeadm, "", "version", "-o", "short")) + "\n"
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	runKubeadm(t, kubeadm, dir, "config", "validate", "--config", file)
	runKubeadm(t, kubeadm, dir, "init", "phase", "control-plane", "controller-manager", "--config", file, "--dry-run")
	text, err := os.ReadFile(filepath.Join(dir, "kube-controller-manager.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := yaml.Unmarshal(text, &pod); err != nil {
		t.Fatal(err)
	}
	return pod.Spec.Containers[0].Command
}

// runKubeadm runs kubeadm, which writes into the folder in the place of /etc/kubernetes, and
// returns what it prints.
func runKubeadm(t *testing.T, kubeadm, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, kubeadm, args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "KUBEADM_INIT_DRYRUN_DIR=" + dir}
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("running kubeadm %s: %v: %s", strings.Join(args, " "), err, problems.Bytes())
	}
	return output.String()
}
