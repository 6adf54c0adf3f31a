package deployment

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

func TestAWriteWithoutAnAnswerIsLookedUpBeforeTheNextDecision(t *testing.T) {
	lost := errors.New("connection reset by peer")
	refused := apierrors.NewForbidden(appsv1.Resource("replicasets"), "web", errors.New("no"))
	tests := map[string]struct {
		verb  string
		there []runtime.Object
		err   error
		waits bool // the next sync waits for the cache to show what was written
	}{
		"a ReplicaSet that was created":     {"create", nil, lost, true},
		"a ReplicaSet that was resized":     {"patch", []runtime.Object{replicaSet("v2", 1)}, lost, true},
		"the server says that it was not":   {"create", nil, refused, false},
		"the server says so about a resize": {"patch", []runtime.Object{replicaSet("v2", 1)}, refused, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, append(test.there, deployment())...)
			l.server.PrependReactor(test.verb, "replicasets", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if test.waits {
					_, object, err := l.answer(action)
					if err == nil { // a read is to show the version that was answered, too
						err = l.server.Tracker().Update(appsv1.SchemeGroupVersion.WithResource("replicasets"), object, "shop")
					}
					if err != nil {
						t.Error(err)
					}
				}
				return true, nil, test.err
			})
			if _, err := l.run(); err == nil {
				t.Fatal("the write did not fail")
			}
			changed := l.written()
			changed.Generation++
			changed.Spec.Template = template("v3")
			l.show(changed)
			before := len(l.writes())
			_, _ = l.run() // fails again where the server refuses
			if waits := len(l.writes()) == before; waits != test.waits {
				t.Errorf("waits: %t, want %t; writes:\n%s", waits, test.waits, strings.Join(l.writes(), "\n"))
			}
		})
	}
}

func TestNothingIsDecidedWhileAWriteCannotBeLookedUp(t *testing.T) {
	l := newLoop(t, deployment())
	lost := errors.New("connection reset by peer")
	l.refuse("create", "replicasets", lost)
	l.refuse("get", "replicasets", lost)
	if _, err := l.run(); err == nil {
		t.Fatal("the write did not fail")
	}
	l.show(l.written())
	before := len(l.writes())
	if _, err := l.run(); !errors.Is(err, lost) || !strings.Contains(err.Error(), "whose last write was not answered") {
		t.Errorf("error %v", err)
	}
	if len(l.writes()) > before {
		t.Errorf("writes:\n%s", strings.Join(l.writes(), "\n"))
	}
}
