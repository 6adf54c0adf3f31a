package deploy

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPodSecurity creates the Pods where the API server enforces the strictest of the Pod
// Security Standards.
func TestPodSecurity(t *testing.T) {
	l := getLab(t)
	const namespace = "restricted"
	_, err := l.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.awaitAccount(t, namespace)
	tests := map[string]struct {
		file string
		// violates are the rules that it cannot keep.
		violates []string
	}{
		"the Pods of the in-cluster form keep all rules": {inCluster, nil},
		"the static pod is part of the host, and root to read its kubeconfig": {staticPod, []string{
			"host namespaces (hostNetwork=true)",
			`hostPort (container "controller-manager" uses hostPort 10267)`,
			`probe or lifecycle host (container "controller-manager" uses probe or lifecycle host "127.0.0.1")`,
			`restricted volume types (volume "kubeconfig" uses restricted volume type "hostPath")`,
			`runAsNonRoot != true (pod or container "controller-manager" must set securityContext.runAsNonRoot=true)`,
			"runAsUser=0 (pod must not set runAsUser=0)",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			template := podOf(t, test.file)
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Labels: template.Labels}, Spec: template.Spec}
			pod.Spec.ServiceAccountName = "" // that one is in kube-system
			pod.Spec.PriorityClassName, pod.Spec.Priority = "", nil
			_, err := l.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if len(test.violates) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !apierrors.IsForbidden(err) {
				t.Fatalf("the answer is %v, want a refusal", err)
			}
			_, violations, _ := strings.Cut(err.Error(), `violates PodSecurity "restricted:latest": `)
			if want := strings.Join(test.violates, ", "); violations != want {
				t.Errorf("it violates\n%s\nwant\n%s", violations, want)
			}
		})
	}
}

// TestTheGarbageCollectorKnowsTheLimit compares the limit of which Go knows with that of which
// the kernel knows. What the Go runtime does not count needs some room between them.
func TestTheGarbageCollectorKnowsTheLimit(t *testing.T) {
	for _, file := range []string{staticPod, inCluster} {
		container := podOf(t, file).Spec.Containers[0]
		limit := container.Resources.Limits.Memory().Value()
		var soft resource.Quantity
		for _, variable := range container.Env {
			if variable.Name == "GOMEMLIMIT" {
				soft = resource.MustParse(strings.TrimSuffix(variable.Value, "B"))
			}
		}
		if part := float64(soft.Value()) / float64(limit); part < 0.8 || part > 0.95 {
			t.Errorf("%s: GOMEMLIMIT is %.2f of the limit, want 0.8 to 0.95", file, part)
		}
	}
}

// TestTheManifestsAreAsStrictAsTheySay looks for what the Pod Security Standards do not ask for,
// and CIS benchmark items 1.3.2 and 1.3.7 do. The in-cluster form must be reachable by its probes.
func TestTheManifestsAreAsStrictAsTheySay(t *testing.T) {
	for file, flags := range map[string][]string{
		staticPod: {"--profiling=false", "--bind-address=127.0.0.1"},
		inCluster: {"--profiling=false"},
	} {
		container := podOf(t, file).Spec.Containers[0]
		for _, flag := range flags {
			if !slices.Contains(container.Args, flag) {
				t.Errorf("%s: the flag %s is missing", file, flag)
			}
		}
		if readOnly := container.SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || !*readOnly {
			t.Errorf("%s: the root file system can be written to", file)
		}
	}
}
