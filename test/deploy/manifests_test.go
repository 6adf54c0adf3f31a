package deploy

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The manifests that have Pods.
const (
	staticPod = folder + "/static-pod/controller-manager.yaml"
	inCluster = folder + "/in-cluster/deployment.yaml"
)

// TestTheAPIServerAcceptsEveryManifest sends each to the API server, which validates it and
// stores nothing. Fields that it does not know are errors.
func TestTheAPIServerAcceptsEveryManifest(t *testing.T) {
	l := getLab(t)
	l.defineOperatorKinds(t)
	accept := func(t *testing.T, args ...string) string {
		t.Helper()
		out, err := l.cluster.Kubectl(t.Context(), append([]string{"apply", "--dry-run=server", "--validate=strict"}, args...)...)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	files := manifests(t)
	if len(files) < 10 {
		t.Errorf("there are only %d manifests: %q", len(files), files)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, folder+"/"), func(t *testing.T) {
			accept(t, "-f", file)
		})
	}
	t.Run("the kustomization", func(t *testing.T) {
		out := accept(t, "-k", folder)
		for _, kind := range []string{"serviceaccount", "clusterrole.", "clusterrolebinding.", "deployment.", "poddisruptionbudget.", "service/"} {
			if !strings.Contains(out, kind) {
				t.Errorf("it has no %s:\n%s", kind, out)
			}
		}
	})
}

// manifests are the files that kubectl can apply one by one.
func manifests(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case filepath.Ext(path) != ".yaml", filepath.Base(path) == "kustomization.yaml", filepath.Base(filepath.Dir(path)) == "kind":
			return nil // not for kubectl apply -f
		}
		files = append(files, filepath.ToSlash(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// defineOperatorKinds adds the kinds of the Prometheus operator that the manifests use.
func (l *lab) defineOperatorKinds(t *testing.T) {
	t.Helper()
	const module = "github.com/prometheus-operator/prometheus-operator"
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module).Output()
	if err != nil {
		t.Fatalf("finding the Prometheus operator's files: %v", err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"servicemonitors", "prometheusrules"} {
		definition := filepath.Join(found.Dir, "example", "prometheus-operator-crd", "monitoring.coreos.com_"+kind+".yaml")
		if _, err := l.cluster.Kubectl(t.Context(), "apply", "--server-side", "-f", definition); err != nil {
			t.Fatal(err)
		}
		if _, err := l.cluster.Kubectl(t.Context(), "wait", "--for=condition=Established", "--timeout="+patience.String(), "-f", definition); err != nil {
			t.Fatal(err)
		}
	}
}

// podOf reads the Pod, or the Pod template of the Deployment, that a manifest has.
func podOf(t *testing.T, file string) corev1.PodTemplateSpec {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(text, &deployment); err == nil {
		return deployment.Spec.Template
	}
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(text, &pod); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
}
