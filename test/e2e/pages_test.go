package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// answer is what a page answered.
type answer struct {
	code   int
	header http.Header
	body   string
}

// reader asks for pages as somebody: with a token or a certificate, or as nobody.
type reader struct {
	token       string
	certificate *tls.Config
}

// read asks for a page; accept is a format, or empty.
func (r reader) read(t *testing.T, url, accept string) answer {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if r.certificate != nil {
		config.Certificates = r.certificate.Certificates
	}
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("asking for %s: %v", url, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading %s: %v", url, err)
	}
	return answer{code: response.StatusCode, header: response.Header, body: string(body)}
}

// account makes a service account and returns a reader with its token.
func (s *space) account(name string) reader {
	s.T.Helper()
	accounts := s.Client.CoreV1().ServiceAccounts(s.Name)
	if _, err := accounts.Create(s.T.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		s.T.Fatalf("creating a service account: %v", err)
	}
	request, err := accounts.CreateToken(s.T.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		s.T.Fatalf("asking for a token: %v", err)
	}
	return reader{token: request.Status.Token}
}

// mayRead lets subjects read some paths, until the end of the test.
func (s *space) mayRead(paths []string, subjects ...rbacv1.Subject) {
	s.T.Helper()
	roles, name := s.Client.RbacV1(), s.Name+"-reader"
	_, err := roles.ClusterRoles().Create(s.T.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: paths, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.T.Fatalf("creating a ClusterRole: %v", err)
	}
	_, err = roles.ClusterRoleBindings().Create(s.T.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   subjects,
	}, metav1.CreateOptions{})
	if err != nil {
		s.T.Fatalf("creating a ClusterRoleBinding: %v", err)
	}
	s.T.Cleanup(func() {
		ctx := context.WithoutCancel(s.T.Context())
		if err := roles.ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			s.T.Error(err)
		}
		if err := roles.ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			s.T.Error(err)
		}
	})
}

// mayReadAll is a reader of all pages. It returns when the permission is known everywhere.
func (s *space) mayReadAll(urls ...string) reader {
	s.T.Helper()
	reader := s.account("reader")
	s.mayRead([]string{"*"}, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: "reader", Namespace: s.Name})
	for _, url := range urls {
		s.Poll("the permission to read "+url, func(context.Context) string {
			if got := reader.read(s.T, url, ""); got.code != http.StatusOK {
				return fmt.Sprint(got.code, " ", got.body)
			}
			return ""
		})
	}
	return reader
}

// pages are those that the built-in has too and that not everybody may read.
func pages() []string { return []string{"/configz", "/flagz", "/metrics", "/statusz"} }

func TestWhoMayReadWhat(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	ours := s.Lab.Process.URL
	nobody, stranger, allowed := reader{}, s.account("stranger"), s.mayReadAll(ours+"/metrics")
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		if got := nobody.read(t, ours+path, ""); got.code != http.StatusOK || got.body != "ok" {
			t.Errorf("%s, as nobody: %d %q, want ok", path, got.code, got.body)
		}
	}
	for _, path := range pages() {
		for who, test := range map[string]struct {
			reader reader
			want   int
		}{
			"nobody":           {nobody, http.StatusUnauthorized},
			"an unknown token": {reader{token: "x"}, http.StatusUnauthorized},
			"without a role":   {stranger, http.StatusForbidden},
			"with the role":    {allowed, http.StatusOK},
		} {
			if got := test.reader.read(t, ours+path, ""); got.code != test.want {
				t.Errorf("%s, %s: %d %s, want %d", path, who, got.code, got.body, test.want)
			}
		}
	}
}

// TestACertificateOfTheClientAuthorityNamesItsOwner lets an instance that stands by trust the
// authority that the API server trusts.
func TestACertificateOfTheClientAuthorityNamesItsOwner(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	standby := s.Launch("certificates", "--client-ca-file="+filepath.Join(s.Lab.Cluster.Dir, "pki", "ca.crt"))
	user := s.Name + "-scraper"
	s.mayRead([]string{"/metrics"}, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	config, err := s.Lab.Cluster.RESTConfig(user)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		t.Fatal(err)
	}
	scraper := reader{certificate: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	s.Poll("the permission", func(context.Context) string {
		if got := scraper.read(t, standby.Process.URL+"/metrics", ""); got.code != http.StatusOK {
			return got.body
		}
		return ""
	})
	if got := scraper.read(t, standby.Process.URL+"/flagz", ""); got.code != http.StatusForbidden || !strings.Contains(got.body, user) {
		t.Errorf("/flagz: %d %s, want 403 and the name %s", got.code, got.body, user)
	}
}

// TestPagesHaveTheFormOfTheBuiltInOnes compares with those of kube-controller-manager, which
// runs beside. Our own have more lines, and the built-in has a version that it emulates.
func TestPagesHaveTheFormOfTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	if s.NotOurs("this is about our program") {
		return
	}
	ours, builtin := s.Lab.Process.URL, s.Lab.Cluster.Component(localcluster.ControllerManager).URL
	reader := s.mayReadAll(ours+"/statusz", builtin+"/statusz")
	for _, path := range append(pages(), "/healthz") {
		want, got := reader.read(t, builtin+path, ""), reader.read(t, ours+path, "")
		for _, header := range []string{"Content-Type", "Cache-Control"} {
			if diff := cmp.Diff(want.header.Get(header), got.header.Get(header)); want.code != got.code || diff != "" {
				t.Errorf("%s: %d, want %d; %s (-builtin +ours):\n%s", path, got.code, want.code, header, diff)
			}
		}
	}
	for _, path := range []string{"/statusz", "/flagz"} {
		want, got := reader.read(t, builtin+path, "").body, reader.read(t, ours+path, "").body
		first := strings.SplitN(strings.Replace(want, "kube-controller-manager", "controller-manager", 1), "\n", 4)[:2]
		if diff := cmp.Diff(first, strings.SplitN(got, "\n", 4)[:2]); diff != "" {
			t.Errorf("the first lines of %s (-builtin +ours):\n%s", path, diff)
		}
	}
	for kind, path := range map[string]string{"Statusz": "/statusz", "Flagz": "/flagz"} {
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			accept := "application/json;as=" + kind + ";v=" + version + ";g=config.k8s.io"
			want, got := reader.read(t, builtin+path, accept), reader.read(t, ours+path, accept)
			if want, got := want.header.Get("Content-Type"), got.header.Get("Content-Type"); want != got {
				t.Errorf("%s as an object is %q, want %q", path, got, want)
			}
			if diff := cmp.Diff(shape(t, want.body), shape(t, got.body)); diff != "" {
				t.Errorf("%s as an object (-builtin +ours):\n%s", path, diff)
			}
		}
	}
	for _, accept := range []string{"application/json", "text/html"} {
		want, got := reader.read(t, builtin+"/statusz", accept).code, reader.read(t, ours+"/statusz", accept).code
		if want != got {
			t.Errorf("/statusz as %s: %d, want %d", accept, got, want)
		}
	}
}

// shape is a page's kind and version, and the names and types of its other fields.
func shape(t *testing.T, body string) map[string]string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	delete(object, "emulationVersion")
	shape := map[string]string{"kind": fmt.Sprint(object["kind"]), "apiVersion": fmt.Sprint(object["apiVersion"])}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if shape[name] == "" {
			shape[name] = fmt.Sprintf("%T", object[name])
		}
	}
	return shape
}
