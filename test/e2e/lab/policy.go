package lab

import (
	"context"
	"os"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// templatePolicy adds a variable to the template of each ReplicaSet of the namespace NAME that is
// created.
const templatePolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: NAME
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [replicasets]}
  reinvocationPolicy: Never
  failurePolicy: Fail
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
          containers: [Object.spec.template.spec.containers{name: "web",
            env: [Object.spec.template.spec.containers.env{name: "ADDED", value: "x"}]}]}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: NAME
spec:
  policyName: NAME
`

// ChangeTemplates lets admission add a variable to the template of each ReplicaSet that is created
// in the namespace, until LeaveTemplates is called or the test ends.
func (s *Space) ChangeTemplates() {
	s.T.Helper()
	s.Kubectl("apply", "-f", s.manifest(strings.ReplaceAll(templatePolicy, "NAME", s.Name)))
	s.T.Cleanup(s.removePolicy)
	s.Poll("the policy to be in force", func(context.Context) string { return s.unlessAdded(true) })
}

// LeaveTemplates ends what ChangeTemplates began.
func (s *Space) LeaveTemplates() {
	s.T.Helper()
	s.removePolicy()
	s.Poll("the policy to be gone", func(context.Context) string { return s.unlessAdded(false) })
}

func (s *Space) removePolicy() {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for _, kind := range []string{"mutatingadmissionpolicybinding", "mutatingadmissionpolicy"} {
		if _, err := s.Lab.Cluster.Kubectl(ctx, "delete", "--ignore-not-found", kind, s.Name); err != nil {
			s.T.Error(err)
		}
	}
}

// unlessAdded tries whether the variable is added to a template, and says if that is not as it
// should be.
func (s *Space) unlessAdded(want bool) string {
	rs := NewReplicaSet("probe", 0)
	rs.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	said := s.Kubectl("create", "--dry-run=server", "-o", "yaml", "-f", s.manifest(Encode(s.T, rs)))
	if strings.Contains(said, "ADDED") != want {
		return "not yet"
	}
	return ""
}

// manifest writes a file for kubectl, and returns its path.
func (s *Space) manifest(text string) string {
	s.T.Helper()
	path := s.T.TempDir() + "/manifest"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.T.Fatal(err)
	}
	return path
}
