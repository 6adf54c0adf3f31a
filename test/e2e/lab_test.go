package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

func startLab() (*lab.Lab, error) {
	controllers := os.Getenv("E2E_CONTROLLERS")
	switch controllers {
	case "", "ours", "builtin":
	default:
		return nil, fmt.Errorf("E2E_CONTROLLERS is %q; it may be ours (as without it) or builtin", controllers)
	}
	ours := controllers != "builtin"
	if _, err := os.Stat(lab.Program); ours && err != nil {
		return nil, fmt.Errorf("there is no program to test: run make build first: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cluster, err := localcluster.Start(ctx, localcluster.Options{Log: logLine, BuiltinLoops: !ours, ExtraArgs: map[string][]string{
		// Its own limits would make a comparison take minutes longer; ours has none.
		localcluster.ControllerManager: {"--kube-api-qps=1000", "--kube-api-burst=1000"},
	}})
	if err != nil {
		return nil, err
	}
	l, err := lab.Start(ctx, cluster, ours)
	if err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return l, nil
}

func logLine(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
