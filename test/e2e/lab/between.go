package lab

import (
	"testing"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
)

// Between is a proxy between the API server and the controllers under test.
type Between struct {
	*proxy.Proxy
	lab     *Lab
	Process *localcluster.Process
}

// BehindProxy stops the process under test until the end of the test and starts it again
// as another one, which sees the API server through a proxy from the beginning. Such
// tests do not run in parallel with others, but their subtests may.
func (l *Lab) BehindProxy(t *testing.T, rules ...proxy.Rule) *Between {
	t.Helper()
	l.NewSpace(t).StandAside()
	name := l.Process.Name + "-" + utilrand.String(5)
	middle, kubeconfig, err := l.Cluster.Proxy(name, l.user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := middle.Stop(); err != nil {
			t.Error(err)
		}
	})
	b := &Between{Proxy: middle, lab: l}
	for _, rule := range rules {
		b.Act(t, rule)
	}
	command := l.Process.Command()
	command.Name = name
	command.Args = append(command.Args, "--kubeconfig="+kubeconfig) // the last one counts
	if b.Process, err = l.Cluster.Launch(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	stopAfter(t, b.Process)
	return b
}

// Act puts a rule in force until the end of the test, which fails if the rule never acted.
func (b *Between) Act(t *testing.T, rule proxy.Rule) *proxy.Handle {
	t.Helper()
	handle := b.Add(rule)
	t.Cleanup(func() {
		handle.Remove()
		if handle.Hits() == 0 {
			t.Errorf("nothing was tested: no request met the rule about %+v", rule.Match)
		}
	})
	return handle
}

// NewSpace is a namespace whose controllers are behind the proxy.
func (b *Between) NewSpace(t *testing.T) *Space {
	t.Helper()
	s := b.lab.NewSpace(t)
	s.Processes = append(s.Processes, b.Process)
	return s
}
