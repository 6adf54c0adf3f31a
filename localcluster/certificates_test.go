package localcluster

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClientCertificateNamesUserAndGroups(t *testing.T) {
	authority := mustAuthority(t)
	pair, err := authority.client("system:kube-scheduler", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	certificate := parse(t, pair)
	if got, want := certificate.Subject.CommonName, "system:kube-scheduler"; got != want {
		t.Errorf("common name is %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"a", "b"}, certificate.Subject.Organization); diff != "" {
		t.Errorf("organizations differ (-want +got):\n%s", diff)
	}
	verify(t, authority, certificate, x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

func TestClientCertificateIsNotGoodForAServer(t *testing.T) {
	authority := mustAuthority(t)
	pair, err := authority.client("admin")
	if err != nil {
		t.Fatal(err)
	}
	_, err = parse(t, pair).Verify(x509.VerifyOptions{Roots: pool(authority), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err == nil {
		t.Error("a client's certificate was accepted as a server's")
	}
}

func TestServerCertificateIsGoodForItsHostsOnly(t *testing.T) {
	authority := mustAuthority(t)
	pair, err := authority.server("kube-apiserver", "127.0.0.1", "kubernetes.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	certificate := parse(t, pair)
	for _, host := range []string{"127.0.0.1", "kubernetes.default.svc"} {
		verify(t, authority, certificate, x509.VerifyOptions{DNSName: host})
	}
	if err := certificate.VerifyHostname("127.0.0.2"); err == nil {
		t.Error("the certificate is good for a host that it was not issued for")
	}
}

func TestAuthoritiesDoNotTrustEachOther(t *testing.T) {
	pair, err := mustAuthority(t).client("admin")
	if err != nil {
		t.Fatal(err)
	}
	_, err = parse(t, pair).Verify(x509.VerifyOptions{Roots: pool(mustAuthority(t)), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err == nil {
		t.Error("a certificate of one cluster was accepted by another")
	}
}

func TestKeysAreReadableByTheirOwnerOnly(t *testing.T) {
	pair, err := mustAuthority(t).client("admin")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := pair.write(dir, "admin"); err != nil {
		t.Fatal(err)
	}
	wantPrivate(t, filepath.Join(dir, "admin.key"))
	if _, err := tls.LoadX509KeyPair(filepath.Join(dir, "admin.crt"), filepath.Join(dir, "admin.key")); err != nil {
		t.Errorf("the written pair does not load: %v", err)
	}
}

func mustAuthority(t *testing.T) *authority {
	t.Helper()
	authority, err := newAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func parse(t *testing.T, pair keyPair) *x509.Certificate {
	t.Helper()
	loaded, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Leaf
}

func pool(authority *authority) *x509.CertPool {
	return authority.trust().RootCAs
}

func verify(t *testing.T, authority *authority, certificate *x509.Certificate, options x509.VerifyOptions) {
	t.Helper()
	options.Roots = pool(authority)
	if _, err := certificate.Verify(options); err != nil {
		t.Errorf("the certificate is not valid: %v", err)
	}
}

func wantPrivate(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("%s has the mode %o, want 600", path, got)
	}
}
