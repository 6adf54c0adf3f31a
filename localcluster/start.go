package localcluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
)

const (
	// startTimeout bounds a start; a busy machine with two cores needs a tenth of it.
	startTimeout = 3 * time.Minute
	// startTries is how often other ports are tried when one was lost.
	startTries = 5
)

// Names of certificates and keys in the folder pki that belong to no component.
const (
	clusterAuthority = "ca"
	etcdAuthority    = "etcd-ca"
	etcdClient       = "etcd-client"
	serviceAccounts  = "service-accounts"

	serviceAccountsPublic = serviceAccounts + ".pub"
)

// Start builds what is missing, starts a cluster and waits until it is of use:
// everything serves, nodes take pods, and a pod can be created in the namespace
// default. ctx bounds the start only; the cluster runs until Stop or Kill.
//
// If a component dies meanwhile, the error is a DeathError. After an error the
// folder is left for the logs to be read, except when ctx was canceled.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	binaries, err := Build(ctx, options.Log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it took longer than %s", startTimeout))
	defer cancel()
	for try := 1; ; try++ {
		cluster, err := startOnce(ctx, options, binaries)
		if err == nil || !lostPort(err) || try == startTries {
			return cluster, err
		}
		options.logf("another program took one of our ports meanwhile; starting again with other ports")
	}
}

func startOnce(ctx context.Context, options Options, binaries Binaries) (*Cluster, error) {
	began := time.Now()
	c, err := prepare(options, binaries)
	if err != nil {
		return nil, err
	}
	if err := c.startComponents(ctx, options); err != nil {
		readable := !lostPort(err) && !errors.Is(ctx.Err(), context.Canceled)
		c.setTemporary(options.Dir == "" && !readable)
		return nil, errors.Join(err, c.Kill())
	}
	options.logf("the cluster is ready after %s", seconds(began))
	return c, nil
}

// prepare makes everything that the components need to find when they start.
func prepare(options Options, binaries Binaries) (*Cluster, error) {
	dir, temporary := options.Dir, options.Dir == ""
	var err error
	if temporary {
		dir, err = os.MkdirTemp("", "localcluster-")
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("choosing the cluster's folder: %w", err)
	}
	ports, err := newPorts()
	if err != nil {
		return nil, err
	}
	files := layout{dir: dir}
	c := &Cluster{
		Dir:       dir,
		URL:       httpsURL(ports.apiServer),
		AuditLog:  AuditLog{path: files.auditLog()},
		layout:    files,
		ports:     ports,
		binaries:  binaries,
		launcher:  newLauncher(),
		died:      make(chan error, 1),
		temporary: temporary,
	}
	if err := c.writeFiles(); err != nil {
		return nil, errors.Join(err, c.Kill())
	}
	return c, nil
}

func (c *Cluster) writeFiles() error {
	steps := []func() error{
		c.layout.create,
		c.writeCertificates,
		c.writeKubeconfigs,
		c.writeKwokConfig,
		c.writeAuditPolicy,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) writeCertificates() error {
	var err error
	if c.authority, err = newAuthority("localcluster"); err != nil {
		return err
	}
	if c.etcdCA, err = newAuthority("localcluster-etcd"); err != nil {
		return err
	}
	private, public, err := newServiceAccountKeys()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		c.layout.certificate(clusterAuthority): c.authority.pem,
		c.layout.certificate(etcdAuthority):    c.etcdCA.pem,
		c.layout.key(serviceAccounts):          private,
		c.layout.pki(serviceAccountsPublic):    public,
	}
	for path, text := range files {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	hosts := []string{"127.0.0.1", "localhost"}
	inside := []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", serviceAddress}
	return errors.Join(
		c.writeServerPair(c.etcdCA, Etcd, hosts),
		c.writeServerPair(c.etcdCA, etcdClient, nil),
		c.writeServerPair(c.authority, APIServer, append(inside, hosts...)),
		c.writeServerPair(c.authority, Scheduler, hosts),
		c.writeServerPair(c.authority, ControllerManager, hosts),
	)
}

func (c *Cluster) writeServerPair(authority *authority, name string, hosts []string) error {
	pair, err := authority.server(name, hosts...)
	if err != nil {
		return err
	}
	return pair.write(c.layout.pki(""), name)
}

func (c *Cluster) writeKubeconfigs() error {
	var err error
	if c.admin, err = c.RESTConfig(AdminUser, mastersGroup); err != nil {
		return err
	}
	write := func(file, user string, groups ...string) error {
		return c.writeKubeconfig(c.layout.kubeconfig(file), c.URL, user, groups...)
	}
	return errors.Join(
		write(AdminUser, AdminUser, mastersGroup),
		write(ControllerManager, BuiltinUser),
		write(Scheduler, "system:kube-scheduler"),
		write(Kwok, Kwok, mastersGroup),
		write(OurUser, OurUser),
	)
}

// startComponents starts the components and waits until the cluster is of use.
// The death of any of them ends the wait, and is what is reported.
func (c *Cluster) startComponents(ctx context.Context, options Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case death := <-c.died:
			cancel(death)
		case <-ctx.Done():
		}
	}()
	err := c.startInOrder(ctx, options)
	var death *DeathError
	if err != nil && errors.As(context.Cause(ctx), &death) {
		return death
	}
	return err
}

// startInOrder starts etcd, then the API server, then the others together.
func (c *Cluster) startInOrder(ctx context.Context, options Options) error {
	commands, err := c.commands(options)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, command := range commands {
		switch command.Name {
		case Etcd, APIServer: // the others are of no use without them
			if err := c.startComponent(ctx, command, options); err != nil {
				return err
			}
		default:
			group.Go(func() error { return c.startComponent(groupCtx, command, options) })
		}
	}
	group.Go(func() error { return createNodes(groupCtx, client, options.nodes()) })
	if err := group.Wait(); err != nil {
		return err
	}
	if options.has(ControllerManager) {
		if err := waitFor(ctx, "the default service account", defaultServiceAccount(client)); err != nil {
			return err
		}
	}
	return waitFor(ctx, "the nodes", nodesReady(client, options.nodes(), !options.has(ControllerManager)))
}

func (c *Cluster) startComponent(ctx context.Context, command Command, options Options) error {
	began := time.Now()
	process, err := c.add(command)
	if err != nil {
		return err
	}
	if err := process.waitReady(ctx); err != nil {
		return err
	}
	options.logf("started %s in %s", process.Name, seconds(began))
	return nil
}

// etcdClientTLS is what the API server shows etcd; probes show it too.
func (c *Cluster) etcdClientTLS() (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(c.layout.certificate(etcdClient), c.layout.key(etcdClient))
	if err != nil {
		return nil, fmt.Errorf("reading etcd's client certificate: %w", err)
	}
	config := c.etcdCA.trust()
	config.Certificates = []tls.Certificate{certificate}
	return config, nil
}

// seconds is the time since began, for a line of progress.
func seconds(began time.Time) string {
	return fmt.Sprintf("%.1f s", time.Since(began).Seconds())
}
