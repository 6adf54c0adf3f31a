package lab

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
)

// grantOurPermissions gives a user what the program's own user may do: it is added
// wherever that one is bound to a role.
func (s *Space) grantOurPermissions(user string) {
	s.T.Helper()
	roles := s.Client.RbacV1()
	everywhere, err := roles.ClusterRoleBindings().List(s.T.Context(), metav1.ListOptions{})
	if err != nil {
		s.T.Fatalf("listing ClusterRoleBindings: %v", err)
	}
	for _, binding := range everywhere.Items {
		if subjects, ours := withUser(binding.Subjects, user); ours {
			binding.Subjects = subjects
			if _, err := roles.ClusterRoleBindings().Update(s.T.Context(), &binding, metav1.UpdateOptions{}); err != nil {
				s.T.Fatalf("granting %s our permissions: %v", user, err)
			}
		}
	}
	somewhere, err := roles.RoleBindings(metav1.NamespaceAll).List(s.T.Context(), metav1.ListOptions{})
	if err != nil {
		s.T.Fatalf("listing RoleBindings: %v", err)
	}
	for _, binding := range somewhere.Items {
		if subjects, ours := withUser(binding.Subjects, user); ours {
			binding.Subjects = subjects
			if _, err := roles.RoleBindings(binding.Namespace).Update(s.T.Context(), &binding, metav1.UpdateOptions{}); err != nil {
				s.T.Fatalf("granting %s our permissions: %v", user, err)
			}
		}
	}
}

// withUser adds a user to subjects among which our program's user is.
func withUser(subjects []rbacv1.Subject, user string) (with []rbacv1.Subject, ours bool) {
	for _, subject := range subjects {
		if subject.Kind == rbacv1.UserKind && subject.Name == localcluster.OurUser {
			return append(subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}), true
		}
	}
	return subjects, false
}
