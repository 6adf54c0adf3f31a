package deploy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
)

// kubeadmConfig is where kubeadm keeps the credentials of kube-controller-manager.
const kubeadmConfig = "/etc/kubernetes/controller-manager.conf"

// launch starts the program with the flags of a manifest and the kubeconfig, where the manifest
// has that of kubeadm or none. It returns when the program answers the startup probe.
func (l *lab) launch(t *testing.T, name, manifest, kubeconfig string) *localcluster.Process {
	t.Helper()
	path, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	container := podOf(t, manifest).Spec.Containers[0]
	args := slices.Clone(container.Args)
	for i := range args {
		args[i] = strings.Replace(args[i], kubeadmConfig, kubeconfig, 1)
	}
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--kubeconfig=") }) {
		args = append(args, "--kubeconfig="+kubeconfig) // in a Pod it is the service account's
	}
	address := freeAddress(t)
	port := address[strings.LastIndex(address, ":")+1:]
	probe := container.StartupProbe.HTTPGet
	url := strings.ToLower(string(probe.Scheme)) + "://" + address
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	process, err := l.cluster.Launch(ctx, localcluster.Command{
		Name: name,
		Path: path,
		Args: append(args, "--bind-address=127.0.0.1", "--secure-port="+port),
		URL:  url,
		Ready: func(ctx context.Context) error {
			code, body, err := read(ctx, url+probe.Path, "")
			if err == nil && code != http.StatusOK {
				err = fmt.Errorf("%s answered %d %s", probe.Path, code, body)
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	return process
}

// freeAddress is a port of 127.0.0.1 that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// read asks for a page, with a bearer token if there is one. The certificate was made by the
// program when it started; nobody knows it.
func read(ctx context.Context, url, token string) (code int, body string, err error) {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// metrics reads /metrics as Prometheus does: as a service account of the namespace that may.
func (l *lab) metrics(t *testing.T, namespace, url string) string {
	t.Helper()
	const reader = "prometheus"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: reader, Namespace: namespace}}
	if _, err := l.client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + reader},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	if _, err := l.client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: reader, Namespace: namespace}},
	}
	if _, err := l.client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := l.client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), reader, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var page string
	await(t, "the permission to read /metrics", func(ctx context.Context) string {
		code, body, err := read(ctx, url+"/metrics", token.Status.Token)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("%d %s", code, body)
		}
		page = body
		return problem(err)
	})
	return page
}
