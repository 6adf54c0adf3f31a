package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestAnotherNamespaceTakesTheLeaseAlong follows what README.md says about namespaces other than
// kube-system: all that the API server is sent is for that one, and the program looks for
// its lease where it may.
func TestAnotherNamespaceTakesTheLeaseAlong(t *testing.T) {
	l := getLab(t)
	const namespace = "loops"
	_, err := l.client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	own := ownKustomization(t)
	if _, err := l.cluster.Kubectl(t.Context(), "apply", "--dry-run=server", "--validate=strict", "-k", own); err != nil {
		t.Error(err)
	}
	built, err := l.cluster.Kubectl(t.Context(), "kustomize", own)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	var deployment appsv1.Deployment
	for _, document := range strings.Split(built, "\n---\n") {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		switch object.Kind {
		case "Role":
			err = yaml.UnmarshalStrict([]byte(document), &role)
		case "Deployment":
			err = yaml.UnmarshalStrict([]byte(document), &deployment)
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(document, "kube-system") {
			t.Errorf("%s %s is still about kube-system:\n%s", object.Kind, object.Name, document)
		}
	}
	if role.Namespace != namespace || deployment.Namespace != namespace {
		t.Errorf("the Role is for %q and the Deployment for %q, want both for %q", role.Namespace, deployment.Namespace, namespace)
	}
	args := deployment.Spec.Template.Spec.Containers[0].Args
	if want := "--leader-elect-resource-namespace=" + role.Namespace; args[len(args)-1] != want {
		t.Errorf("the program looks for its lease elsewhere than where the Role allows it: got %q, want %q among them", args, want)
	}
}

// ownKustomization makes the folder that README.md describes.
func ownKustomization(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "```yaml\nnamespace: ")
	text, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("README.md has no kustomization that begins with a namespace")
	}
	own := t.TempDir()
	base, err := filepath.Abs(folder)
	if err == nil {
		base, err = filepath.Rel(own, base)
	}
	if err != nil {
		t.Fatal(err)
	}
	text = "namespace: " + strings.ReplaceAll(text, "PROJECT/deploy", filepath.ToSlash(base))
	if err := os.WriteFile(filepath.Join(own, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return own
}
