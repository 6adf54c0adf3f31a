package freshness

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		err  error
		want bool
	}{
		"a conflict":              {apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("changed")), true},
		"a quota, wrapped":        {fmt.Errorf("creating: %w", apierrors.NewForbidden(schema.GroupResource{}, "web", errors.New("quota"))), true},
		"too many requests":       {apierrors.NewTooManyRequests("later", 1), true},
		"an error of the server":  {apierrors.NewInternalError(errors.New("etcd")), false},
		"no answer from a server": {apierrors.NewTimeoutError("timeout", 1), false},
		"a broken connection":     {errors.New("connection reset by peer"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Refused(test.err); got != test.want {
				t.Errorf("Refused = %t, want %t", got, test.want)
			}
		})
	}
}
