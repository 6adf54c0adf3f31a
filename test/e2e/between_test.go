package e2e

import (
	"testing"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"controller-manager/localcluster"
	"controller-manager/localcluster/proxy"
)

// between is a proxy between the API server and the controllers under test.
type between struct {
	*proxy.Proxy
	process *localcluster.Process
}

// behindProxy stops the process under test until the end of the test and starts it again
// as another one, which sees the API server through a proxy from the beginning. Such
// tests do not run in parallel with others, but their subtests may.
func behindProxy(t *testing.T, rules ...proxy.Rule) *between {
	t.Helper()
	l := getLab(t)
	newSpace(t).standAside()
	name := l.process.Name + "-" + utilrand.String(5)
	middle, kubeconfig, err := l.cluster.Proxy(name, l.user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := middle.Stop(); err != nil {
			t.Error(err)
		}
	})
	b := &between{Proxy: middle}
	for _, rule := range rules {
		b.act(t, rule)
	}
	command := l.process.Command()
	command.Name = name
	command.Args = append(command.Args, "--kubeconfig="+kubeconfig) // the last one counts
	if b.process, err = l.cluster.Launch(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.process.Stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// act puts a rule in force until the end of the test, which fails if the rule never acted.
func (b *between) act(t *testing.T, rule proxy.Rule) *proxy.Handle {
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

// newSpace is a namespace whose controllers are behind the proxy.
func (b *between) newSpace(t *testing.T) *space {
	t.Helper()
	s := newSpace(t)
	s.processes = append(s.processes, b.process)
	return s
}
