package localcluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Users that every cluster has a kubeconfig for; see Cluster.KubeconfigPath.
const (
	// AdminUser may do everything (group system:masters).
	AdminUser = "admin"
	// OurUser is the controller-manager under test. It is in no group, so that
	// it may do just what RBAC objects grant it by name.
	OurUser = "controller-manager"
	// BuiltinUser is kube-controller-manager.
	BuiltinUser = "system:kube-controller-manager"

	// mastersGroup is the group that RBAC lets do everything.
	mastersGroup = "system:masters"
)

// KubeconfigPath is the kubeconfig of a user that every cluster has: AdminUser,
// OurUser, ControllerManager, Scheduler and Kwok.
func (c *Cluster) KubeconfigPath(user string) string {
	return c.layout.kubeconfig(user)
}

// Kubeconfig writes a kubeconfig for any user and groups, as the API server will
// see them, and returns its path. The file is readable by its owner only and
// lives as long as the cluster's folder.
func (c *Cluster) Kubeconfig(user string, groups ...string) (string, error) {
	name := strings.NewReplacer(":", "-", "/", "-").Replace(strings.Join(append([]string{user}, groups...), ","))
	path := c.layout.kubeconfig(name)
	return path, c.writeKubeconfig(path, c.URL, user, groups...)
}

// AdminConfig is a client configuration of the user admin, without a limit on
// requests.
func (c *Cluster) AdminConfig() *rest.Config {
	return rest.CopyConfig(c.admin)
}

// RESTConfig is a client configuration of any user and groups, without a limit
// on requests.
func (c *Cluster) RESTConfig(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: c.URL,
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.authority.pem,
			CertData: pair.certificate,
			KeyData:  pair.key,
		},
		QPS: -1,
	}, nil
}

func (c *Cluster) writeKubeconfig(path, url, user string, groups ...string) error {
	pair, err := c.authority.client(user, groups...)
	if err != nil {
		return err
	}
	const name = "localcluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: c.authority.pem}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.certificate, ClientKeyData: pair.key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	text, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding the kubeconfig of %s: %w", user, err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("writing the kubeconfig of %s: %w", user, err)
	}
	return nil
}

// trust is a TLS configuration that believes the authority.
func (a *authority) trust() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
