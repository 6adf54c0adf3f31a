package replicaset

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
)

func TestNamesOfPods(t *testing.T) {
	long := func(n int) string { return strings.Repeat("n", n) }
	tests := map[string]struct {
		replicaSet   string
		generateName string
		name         string
	}{
		"a short name":                            {"web", "web-", `^web-[a-z0-9]{5}$`},
		"the longest name that fits with a dash":  {long(57), long(57) + "-", `^n{57}-[a-z0-9]{5}$`},
		"a name that leaves no room for the dash": {long(58), long(58) + "-", `^n{58}[a-z0-9]{5}$`},
		"a long name is cut":                      {long(200), long(200) + "-", `^n{58}[a-z0-9]{5}$`},
		"the longest name there is":               {long(253), long(253) + "-", `^n{58}[a-z0-9]{5}$`},
		"a name with dots":                        {"web.v2", "web.v2-", `^web\.v2-[a-z0-9]{5}$`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rs := newReplicaSet(1, 0, func(rs *appsv1.ReplicaSet) { rs.Name = test.replicaSet })
			name := podName(rs, randomSuffix())
			if !regexp.MustCompile(test.name).MatchString(name) {
				t.Errorf("name = %q, want %s", name, test.name)
			}
			if got := newPod(rs, name).GenerateName; got != test.generateName {
				t.Errorf("generateName = %q, want %q", got, test.generateName)
			}
			if again := podName(rs, randomSuffix()); again == name {
				t.Errorf("two names are both %q", again)
			}
		})
	}
}

// TestEventsAreThoseThatOthersMatchOn spells out what kubectl, dashboards and alerts know.
func TestEventsAreThoseThatOthersMatchOn(t *testing.T) {
	err := errors.New("the cause")
	got := fmt.Sprint(podsCreated(some{"web-abcde", 1}), podsDeleted(some{"web-abcde", 1}),
		podsCreated(some{"web-abcde", 974}), podsDeleted(some{"web-abcde", 2}), createFailed(err), deleteFailed(err))
	want := "{Normal SuccessfulCreate Created pod: web-abcde} {Normal SuccessfulDelete Deleted pod: web-abcde} " +
		"{Normal SuccessfulCreate Created 974 more pods} {Normal SuccessfulDelete Deleted 2 more pods} " +
		"{Warning FailedCreate Error creating: the cause} {Warning FailedDelete Error deleting: the cause}"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
