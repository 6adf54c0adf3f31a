package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"controller-manager/localcluster"
)

// Inside is what Run starts in namespaces of their own: it starts the control plane and the node,
// goes through the steps and writes the report. work is a folder that goes with the node.
func Inside(ctx context.Context, options Options, work string) error {
	if err := os.MkdirAll(options.Folder, 0o750); err != nil {
		return fmt.Errorf("making the folder for the report: %w", err)
	}
	if err := furnish(ctx, work); err != nil {
		return err
	}
	m := &machine{options: options, work: work}
	began := time.Now()
	r, err := m.prove(ctx)
	r.wanted, r.took = len(steps()), time.Since(began)
	// The logs last: nobody writes or removes any then.
	err = errors.Join(err, m.stop(), m.keepLogs(), r.write(options.Folder))
	options.Log("%s", r.summary())
	options.Log("the report is in %s: report.md and logs", options.Folder)
	if err == nil && !r.passed() {
		err = ErrSteps
	}
	return err
}

// prove starts everything and goes through the steps until one fails.
func (m *machine) prove(ctx context.Context) (r report, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx)) // why it was cut short
		}
	}()
	if err := m.start(ctx); err != nil {
		return r, err
	}
	go func() {
		select {
		case death := <-m.cluster.Died():
			cancel(death)
		case <-ctx.Done():
		}
	}()
	if r.versions, err = m.versions(ctx); err != nil {
		return r, err
	}
	for _, step := range steps() {
		r.results = append(r.results, m.pass(ctx, step))
		if r.results[len(r.results)-1].err != nil {
			break // those that follow begin where this one should have ended
		}
	}
	return r, nil
}

// keepLogs puts the logs of the node, of the control plane and of the Pods beside the report.
func (m *machine) keepLogs() error {
	logs := filepath.Join(m.options.Folder, "logs")
	if err := os.RemoveAll(logs); err != nil {
		return fmt.Errorf("removing older logs: %w", err)
	}
	if m.cluster == nil {
		return nil
	}
	for name, source := range map[string]string{
		"cluster": filepath.Join(m.cluster.Dir, "logs"),
		"pods":    "/var/log/pods",
	} {
		err := os.CopyFS(filepath.Join(logs, name), os.DirFS(source))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("keeping the logs: %w", err)
		}
	}
	return nil
}

func (m *machine) stop() error {
	if m.cluster == nil {
		return nil
	}
	return m.cluster.Stop()
}

// clusterOptions are a cluster as kubeadm makes it, with the built-in loops and without fake nodes.
func (m *machine) clusterOptions() localcluster.Options {
	dir := filepath.Join(m.work, "cluster")
	return localcluster.Options{
		Dir:          dir,
		Log:          m.options.Log,
		BuiltinLoops: true,
		Without:      []string{localcluster.Kwok},
		ExtraArgs: map[string][]string{localcluster.APIServer: {
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--kubelet-preferred-address-types=InternalIP",
		}},
	}
}
