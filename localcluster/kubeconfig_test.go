package localcluster

import (
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

// prepared is a cluster with all its files but no process.
func prepared(t *testing.T) *Cluster {
	t.Helper()
	c, err := prepare(Options{Dir: t.TempDir()}, Binaries{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestKubeconfigsNameTheUserThatTheAPIServerWillSee(t *testing.T) {
	c := prepared(t)
	minted, err := c.Kubeconfig("system:serviceaccount:a:b", "group:one")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		path   string
		user   string
		groups []string
	}{
		"the admin is a master":                    {c.KubeconfigPath(AdminUser), "admin", []string{"system:masters"}},
		"the built-in has its name and no group":   {c.KubeconfigPath(ControllerManager), "system:kube-controller-manager", nil},
		"the scheduler has its name and no group":  {c.KubeconfigPath(Scheduler), "system:kube-scheduler", nil},
		"ours has its name and no group":           {c.KubeconfigPath(OurUser), "controller-manager", nil},
		"a minted one has the name that was asked": {minted, "system:serviceaccount:a:b", []string{"group:one"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wantPrivate(t, test.path)
			config, err := clientcmd.BuildConfigFromFlags("", test.path)
			if err != nil {
				t.Fatal(err)
			}
			if config.Host != c.URL {
				t.Errorf("server is %q, want %q", config.Host, c.URL)
			}
			block, _ := pem.Decode(config.CertData)
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if got := certificate.Subject.CommonName; got != test.user {
				t.Errorf("user is %q, want %q", got, test.user)
			}
			if diff := cmp.Diff(test.groups, certificate.Subject.Organization); diff != "" {
				t.Errorf("groups differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTwoGroupsOfOneUserHaveTwoKubeconfigs(t *testing.T) {
	c := prepared(t)
	one, err := c.Kubeconfig("jo", "one")
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.Kubeconfig("jo", "two")
	if err != nil {
		t.Fatal(err)
	}
	if one == two {
		t.Errorf("both are %s", one)
	}
}

func TestAdminConfigIsACopy(t *testing.T) {
	c := prepared(t)
	c.AdminConfig().Host = "changed"
	if got := c.AdminConfig().Host; got != c.URL {
		t.Errorf("a caller changed everybody's configuration: host is %q", got)
	}
}
