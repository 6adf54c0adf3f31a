package e2e

import (
	"testing"

	"controller-manager/localcluster/proxy"
	"controller-manager/test/e2e/lab"
)

// space is a namespace of a test's own, with what these tests ask of it.
type space struct{ *lab.Space }

// newSpace is lab.NewSpace on the cluster that all tests share.
func newSpace(t *testing.T) *space {
	t.Helper()
	return &space{theLab.Get(t).NewSpace(t)}
}

// newSpaceUntil is lab.NewSpaceUntil.
func newSpaceUntil(t, owner *testing.T) *space {
	t.Helper()
	return &space{theLab.Get(t).NewSpaceUntil(t, owner)}
}

// as is the space in the hands of another test.
func (s *space) as(t *testing.T) *space { return &space{s.As(t)} }

// between is a proxy between the API server and the controllers under test.
type between struct{ *lab.Between }

// behindProxy is lab.BehindProxy.
func behindProxy(t *testing.T, rules ...proxy.Rule) *between {
	t.Helper()
	return &between{theLab.Get(t).BehindProxy(t, rules...)}
}

// newSpace is a namespace whose controllers are behind the proxy.
func (b *between) newSpace(t *testing.T) *space {
	t.Helper()
	return &space{b.NewSpace(t)}
}
