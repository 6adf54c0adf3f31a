package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
)

const (
	ourAccount = "system:serviceaccount:kube-system:controller-manager"
	leaseName  = "controller-manager"
)

// TestPermissions starts two instances in each of the shipped ways, makes them do all they can
// and then compares what they asked for with what deploy/rbac grants the user.
func TestPermissions(t *testing.T) {
	l := getLab(t)
	t.Run("in the cluster, with the service account", func(t *testing.T) {
		kubeconfig, err := l.cluster.Kubeconfig(ourAccount, "system:serviceaccounts", "system:serviceaccounts:kube-system")
		if err != nil {
			t.Fatal(err)
		}
		l.checkPermissions(t, "in-cluster", inCluster, kubeconfig, ourAccount)
	})
	t.Run("as a static pod, with the kubeconfig of kube-controller-manager", func(t *testing.T) {
		kubeconfig := l.cluster.KubeconfigPath(localcluster.ControllerManager)
		l.checkPermissions(t, "static-pod", staticPod, kubeconfig, localcluster.BuiltinUser)
	})
}

// TestTheUserMayDoWhatTheServiceAccountMay compares the grants to the two.
func TestTheUserMayDoWhatTheServiceAccountMay(t *testing.T) {
	l := getLab(t)
	user, account := l.grants(t, localcluster.OurUser), l.grants(t, ourAccount)
	if len(user) == 0 || fmt.Sprint(roles(user)) != fmt.Sprint(roles(account)) {
		t.Errorf("the user has the roles %v, the service account %v", roles(user), roles(account))
	}
}

// checkPermissions lets instances work and compares.
func (l *lab) checkPermissions(t *testing.T, name, manifest, kubeconfig, user string) {
	err := l.client.CoordinationV1().Leases("kube-system").Delete(t.Context(), leaseName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err) // there must be none, so that one is created
	}
	since, err := l.cluster.AuditLog.Mark()
	if err != nil {
		t.Fatal(err)
	}
	leader := l.launch(t, name+"-0", manifest, kubeconfig)
	w := l.newWork(t, name)
	w.all()
	standby := l.launch(t, name+"-1", manifest, kubeconfig)
	l.metrics(t, name, leader.URL)
	for _, process := range []*localcluster.Process{standby, leader} {
		if err := process.Stop(); err != nil { // a watch is in the audit log when it has ended
			t.Fatal(err)
		}
	}
	shipped := slices.DeleteFunc(l.grants(t, user), func(g grant) bool { return !g.shipped })
	var uses []use
	await(t, "the audit log to show that every permission is used", func(context.Context) string {
		uses = l.uses(t, since)
		return unused(shipped, uses)
	})
	t.Logf("%s was asked for:\n%s", name, strings.Join(lines(uses), "\n"))
	granted := map[string][]grant{}
	for _, u := range uses {
		if granted[u.user] == nil {
			granted[u.user] = l.grants(t, u.user)
		}
	}
	uses = slices.DeleteFunc(uses, func(u use) bool {
		return slices.ContainsFunc(granted[u.user], func(g grant) bool { return g.covers(u) })
	})
	for _, line := range lines(uses) {
		t.Errorf("nobody grants %s", line)
	}
}

// use is something that was asked for.
type use struct{ user, verb, group, resource, namespace, name string }

// String is a line for people.
func (u use) String() string {
	line := fmt.Sprintf("%s: %s %s", u.user, u.verb, u.resource)
	if u.group != "" {
		line += "." + u.group
	}
	if u.resource == "leases" {
		line += " " + u.namespace + "/" + u.name
	}
	return line
}

func lines(uses []use) []string {
	var lines []string
	for _, u := range uses {
		lines = append(lines, u.String())
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// uses are what our instances have asked for since a mark: the audit log has the requests,
// and the authorizer heard what admission asked about them.
func (l *lab) uses(t *testing.T, since localcluster.AuditMark) []use {
	t.Helper()
	entries, err := l.cluster.AuditLog.Since(since)
	if err != nil {
		t.Fatal(err)
	}
	var uses []use
	users := map[string]bool{}
	for _, e := range entries {
		if !strings.HasPrefix(e.UserAgent, "controller-manager/") || e.Resource == "" {
			continue
		}
		users[e.User] = true
		uses = append(uses, use{e.User, e.Verb, e.Group, inRoles(e.Resource, e.Subresource), e.Namespace, e.Name})
	}
	for _, asked := range l.questions.all() {
		// It first asks for all resources together, which needs no yes.
		if r := asked.ResourceAttributes; r != nil && r.Subresource == "finalizers" && r.Resource != "*" && users[asked.User] {
			uses = append(uses, use{asked.User, r.Verb, r.Group, inRoles(r.Resource, r.Subresource), r.Namespace, r.Name})
		}
	}
	return uses
}

// inRoles is a resource as roles name it.
func inRoles(resource, subresource string) string {
	if subresource == "" {
		return resource
	}
	return resource + "/" + subresource
}

// unused names a shipped permission that nobody has used, "" if all were.
func unused(shipped []grant, uses []use) string {
	if len(shipped) == 0 {
		return "nothing is granted"
	}
	for _, g := range shipped {
		for _, single := range g.singles() {
			if !slices.ContainsFunc(uses, func(u use) bool { return single.covers(u) }) {
				return fmt.Sprintf("%s grants %v, which is not used", g.role, single.rule)
			}
		}
	}
	return ""
}

// grant is a rule of a role that a user has.
type grant struct {
	user, role string
	namespace  string // where; empty: everywhere
	rule       rbacv1.PolicyRule
	shipped    bool // by deploy/rbac
}

func roles(grants []grant) []string {
	var names []string
	for _, g := range grants {
		names = append(names, g.namespace+"/"+g.role)
	}
	return names
}

// TestNoWildcards makes sure that nothing shipped grants more than can be read off it.
func TestNoWildcards(t *testing.T) {
	l := getLab(t)
	for _, user := range []string{localcluster.OurUser, ourAccount, localcluster.BuiltinUser} {
		for _, g := range l.grants(t, user) {
			if !g.shipped {
				continue
			}
			for _, word := range slices.Concat(g.rule.Verbs, g.rule.APIGroups, g.rule.Resources) {
				if strings.Contains(word, "*") || strings.HasPrefix(word, "secrets") {
					t.Errorf("%s grants %q to %s", g.role, word, user)
				}
			}
		}
	}
}
