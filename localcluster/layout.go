package localcluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// layout says where in a cluster's folder things are.
type layout struct{ dir string }

func (l layout) pki(file string) string { return filepath.Join(l.dir, "pki", file) }
func (l layout) kubeconfig(user string) string {
	return filepath.Join(l.dir, "kubeconfig", user+".kubeconfig")
}
func (l layout) log(process string) string      { return filepath.Join(l.dir, "logs", process+".log") }
func (l layout) etcdData() string               { return filepath.Join(l.dir, "etcd") }
func (l layout) auditLog() string               { return filepath.Join(l.dir, "audit.log") }
func (l layout) auditPolicy() string            { return filepath.Join(l.dir, "audit-policy.yaml") }
func (l layout) kwokConfig() string             { return filepath.Join(l.dir, "kwok.yaml") }
func (l layout) home() string                   { return filepath.Join(l.dir, "home") }
func (l layout) certificate(name string) string { return l.pki(name + ".crt") }
func (l layout) key(name string) string         { return l.pki(name + ".key") }

// create makes an empty layout, without what an earlier cluster left there.
func (l layout) create() error {
	for _, old := range []string{l.pki(""), filepath.Dir(l.kubeconfig("")), filepath.Dir(l.log("")), l.etcdData(), l.auditLog(), l.home()} {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("removing what an earlier cluster left: %w", err)
		}
	}
	for _, folder := range []string{l.pki(""), filepath.Dir(l.kubeconfig("")), filepath.Dir(l.log("")), l.home()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making the cluster's folders: %w", err)
		}
	}
	return nil
}
