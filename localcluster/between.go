package localcluster

import (
	"crypto/tls"
	"errors"
	"fmt"

	"controller-manager/localcluster/proxy"
)

// Proxy starts a proxy in front of the API server for a user, and writes a kubeconfig that
// leads there. The name tells it from other kubeconfigs. Whoever calls stops it.
func (c *Cluster) Proxy(name, user string) (between *proxy.Proxy, kubeconfig string, err error) {
	config, err := c.RESTConfig(user)
	if err != nil {
		return nil, "", err
	}
	pair, err := c.authority.server(name, "127.0.0.1")
	if err != nil {
		return nil, "", err
	}
	certificate, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		return nil, "", fmt.Errorf("reading back the certificate of %s: %w", name, err)
	}
	if between, err = proxy.Start(proxy.Config{Target: config, Certificate: certificate}); err != nil {
		return nil, "", err
	}
	path := c.layout.kubeconfig(name)
	if err := c.writeKubeconfig(path, between.URL, user); err != nil {
		return nil, "", errors.Join(err, between.Stop())
	}
	return between, path, nil
}
