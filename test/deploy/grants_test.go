package deploy

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shippedPrefix is how the names of the bindings of deploy/rbac begin.
const shippedPrefix = "controller-manager"

// grants are the rules of all roles that are bound to a user by name.
func (l *lab) grants(t *testing.T, user string) []grant {
	t.Helper()
	var grants []grant
	everywhere, err := l.client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range everywhere.Items {
		if isBound(binding.Subjects, user) {
			grants = append(grants, l.rules(t, user, binding.ObjectMeta, binding.RoleRef)...)
		}
	}
	somewhere, err := l.client.RbacV1().RoleBindings("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range somewhere.Items {
		if isBound(binding.Subjects, user) {
			grants = append(grants, l.rules(t, user, binding.ObjectMeta, binding.RoleRef)...)
		}
	}
	return grants
}

func isBound(subjects []rbacv1.Subject, user string) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.UserKind && s.Name == user ||
			s.Kind == rbacv1.ServiceAccountKind && "system:serviceaccount:"+s.Namespace+":"+s.Name == user
	})
}

// rules are those of the role that a binding names.
func (l *lab) rules(t *testing.T, user string, binding metav1.ObjectMeta, ref rbacv1.RoleRef) []grant {
	t.Helper()
	var rules []rbacv1.PolicyRule
	if ref.Kind == "ClusterRole" {
		role, err := l.client.RbacV1().ClusterRoles().Get(t.Context(), ref.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules = role.Rules
	} else {
		role, err := l.client.RbacV1().Roles(binding.Namespace).Get(t.Context(), ref.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules = role.Rules
	}
	var grants []grant
	for _, rule := range rules {
		grants = append(grants, grant{user, ref.Name, binding.Namespace, rule, strings.HasPrefix(binding.Name, shippedPrefix)})
	}
	return grants
}

// covers reports whether a grant allows a use.
func (g grant) covers(u use) bool {
	has := func(list []string, item string) bool {
		return slices.Contains(list, item) || slices.Contains(list, rbacv1.VerbAll)
	}
	return g.user == u.user && (g.namespace == "" || g.namespace == u.namespace) &&
		has(g.rule.Verbs, u.verb) && has(g.rule.APIGroups, u.group) && has(g.rule.Resources, u.resource) &&
		(len(g.rule.ResourceNames) == 0 || slices.Contains(g.rule.ResourceNames, u.name))
}

// singles are the grant, one verb of one resource at a time.
func (g grant) singles() []grant {
	names := g.rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var singles []grant
	for _, verb := range g.rule.Verbs {
		for _, group := range g.rule.APIGroups {
			for _, resource := range g.rule.Resources {
				for _, name := range names {
					single := g
					single.rule = rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
					if name != "" {
						single.rule.ResourceNames = []string{name}
					}
					singles = append(singles, single)
				}
			}
		}
	}
	return singles
}
