package localcluster

import (
	"crypto/tls"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestAKubeconfigLeadsToItsProxyAndTrustsIt(t *testing.T) {
	c := prepared(t)
	between, path, err := c.Proxy("between", "jo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := between.Stop(); err != nil {
			t.Error(err)
		}
	})
	wantPrivate(t, path)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != between.URL {
		t.Errorf("the kubeconfig leads to %s, want %s", config.Host, between.URL)
	}
	trust, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(between.URL)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := tls.Dial("tcp", address.Host, trust)
	if err != nil {
		t.Fatalf("the proxy is not trusted: %v", err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
}
