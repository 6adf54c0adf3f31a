package better

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"controller-manager/localcluster"
	"controller-manager/test/e2e/lab"
)

// theLab is started by TestMain: a cluster without the two loops.
var theLab = lab.Share(connect)

func TestMain(m *testing.M) {
	theLab.Main(m, func(*lab.Lab) error { return nil })
}

func connect() (*lab.Lab, error) {
	if _, err := os.Stat(lab.Program); err != nil {
		return nil, fmt.Errorf("there is no program to compare: run make build first: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	})
	if err != nil {
		return nil, err
	}
	l, err := lab.Connect(ctx, cluster)
	if err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return l, nil
}
