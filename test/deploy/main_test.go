package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"controller-manager/localcluster"
)

const (
	// folder is what is proved, and program what it starts.
	folder  = "../../deploy"
	program = "../../bin/controller-manager"

	// patience bounds every wait. It is long, so that a busy machine fails no test.
	patience = 120 * time.Second
	// pollPeriod is how often something is looked at.
	pollPeriod = 100 * time.Millisecond
)

// lab is the cluster that the tests share.
type lab struct {
	cluster   *localcluster.Cluster
	client    kubernetes.Interface
	questions *questions
}

// theLab is started by TestMain.
var theLab = sync.OnceValues(startLab)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	l, err := theLab()
	if err != nil {
		return 0, fmt.Errorf("starting the cluster: %w", err)
	}
	defer func() { err = errors.Join(err, l.cluster.Stop(), l.questions.close()) }()
	return m.Run(), nil
}

func startLab() (*lab, error) {
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("there is no program to start: run make build first: %w", err)
	}
	questions, err := listen()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Log:   func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
		Nodes: 2,
		ExtraArgs: map[string][]string{localcluster.APIServer: {
			// Asks for permission to set an owner reference that blocks the owner's deletion.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			"--authorization-mode=Webhook,RBAC",
			"--authorization-webhook-version=v1",
			"--authorization-webhook-config-file=" + questions.config,
		}},
	})
	if err != nil {
		return nil, errors.Join(err, questions.close())
	}
	l := &lab{cluster: cluster, questions: questions}
	if l.client, err = kubernetes.NewForConfig(cluster.AdminConfig()); err != nil {
		return nil, errors.Join(err, cluster.Stop(), questions.close())
	}
	if _, err := cluster.Kubectl(ctx, "apply", "-f", filepath.Join(folder, "rbac")); err != nil {
		return nil, errors.Join(err, cluster.Stop(), questions.close())
	}
	return l, nil
}

func getLab(t *testing.T) *lab {
	t.Helper()
	l, err := theLab()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// await polls until a condition is true, which says otherwise what is missing.
func await(t *testing.T, what string, missing func(context.Context) string) {
	t.Helper()
	left := ""
	err := wait.PollUntilContextTimeout(t.Context(), pollPeriod, patience, true, func(ctx context.Context) (bool, error) {
		left = missing(ctx)
		return left == "", nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v; last seen: %s", what, err, left)
	}
}

// awaitAccount waits until Pods can be created in a new namespace.
func (l *lab) awaitAccount(t *testing.T, namespace string) {
	t.Helper()
	await(t, "the service account of namespace "+namespace, func(ctx context.Context) string {
		_, err := l.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return problem(err)
	})
}

// problem is the text of an error, "" for none.
func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
