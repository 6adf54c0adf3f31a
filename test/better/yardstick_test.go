package better

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// The tests in this file show faults of the built-in loops that ours have too as yet.

// also makes them run under ours too, to see how far those are.
var also = flag.Bool("ours", false, "run under ours too what shows a fault that ours have as yet")

// yardstick runs a script under the built-in loops, where the fault has to be seen.
func yardstick(t *testing.T, run script, flags ...string) {
	t.Helper()
	found := underBuiltin(t, run, flags)
	if !t.Failed() && !found.fault {
		t.Errorf("the built-in loops do not have the fault: %s", found)
	}
	fmt.Fprintf(os.Stdout, "%s\n  built-in: %s\n", t.Name(), found)
	if *also {
		fmt.Fprintf(os.Stdout, "  ours:     %s\n", underOurs(t, run, flags))
	}
}

// TestPodsThatFailAtOnce: kubernetes#72593, #131116. A node refuses all Pods that it is given.
func TestPodsThatFailAtOnce(t *testing.T) {
	yardstick(t, func(t *testing.T, l *lab.Lab) finding {
		// The first 10 may be replaced at once, and then there are two waits, of 10 and 20 seconds.
		const size, most, period = 10, 4 * 10, 30 * time.Second
		s := l.NewSpace(t)
		s.Create(lab.NewDeployment("web", size, lab.Mode(localcluster.ModeFail)))
		began := time.Now()
		s.Poll("the time to pass", func(context.Context) string {
			if left := period - time.Since(began); left > 0 {
				return left.String()
			}
			return ""
		})
		made := s.Recorder.Now().Pods.Born()
		s.Edit("web", lab.Replicas(0))
		return finding{
			fault:   made > most,
			cell:    "the failed Pods are replaced without a pause",
			counted: fmt.Sprintf("%d Pods made for %d wanted within %s", made, size, period),
		}
	})
}

// TestATemplateThatIsChangedOnTheWay: kubernetes#57167. Admission adds a variable to the
// template of each ReplicaSet.
func TestATemplateThatIsChangedOnTheWay(t *testing.T) {
	yardstick(t, func(t *testing.T, l *lab.Lab) finding {
		const period = 30 * time.Second
		s := l.NewSpace(t)
		mutate(s)
		s.Create(lab.NewDeployment("web", 1))
		began := time.Now()
		s.Poll("the time to pass", func(context.Context) string {
			if left := period - time.Since(began); left > 0 {
				return left.String()
			}
			return ""
		})
		made := s.Recorder.Now().ReplicaSets.Born()
		return finding{
			fault:   made > 1+1,
			cell:    "ReplicaSets are made without end",
			counted: fmt.Sprintf("%d within %s, collisionCount %d", made, period, *s.Deployment("web").Status.CollisionCount),
		}
	})
}

// mutate lets admission add a variable to the templates of the namespace's ReplicaSets.
func mutate(s *lab.Space) {
	s.T.Helper()
	const policy = `
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
	apply(s, strings.ReplaceAll(policy, "NAME", s.Name))
	s.T.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
		defer cancel()
		for _, kind := range []string{"mutatingadmissionpolicybinding", "mutatingadmissionpolicy"} {
			if _, err := s.Lab.Cluster.Kubectl(ctx, "delete", kind, s.Name); err != nil {
				s.T.Error(err)
			}
		}
	})
	s.Poll("the policy to be in force", func(context.Context) string {
		rs := lab.NewReplicaSet("probe", 0)
		said := s.Kubectl("create", "--dry-run=server", "-o", "yaml", "-f", write(s, lab.Encode(s.T, withKind(rs))))
		if !strings.Contains(said, "ADDED") {
			return "it is not"
		}
		return ""
	})
}

func withKind(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	rs.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	return rs
}

// apply applies a manifest.
func apply(s *lab.Space, manifest string) {
	s.T.Helper()
	s.Kubectl("apply", "-f", write(s, manifest))
}

func write(s *lab.Space, text string) string {
	s.T.Helper()
	path := s.T.TempDir() + "/manifest"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.T.Fatal(err)
	}
	return path
}
