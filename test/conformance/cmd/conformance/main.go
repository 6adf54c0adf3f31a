package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"controller-manager/test/conformance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	options := conformance.Options{
		Program: filepath.Join("bin", "controller-manager"),
		RBAC:    filepath.Join("deploy", "rbac"),
		Specs:   filepath.Join("bin", "conformance-specs"),
		Folder:  filepath.Join("build", "conformance"),
		Log: func(format string, args ...any) {
			_, _ = fmt.Fprintf(os.Stdout, format+"\n", args...)
		},
	}
	switch controllers := os.Getenv("CONTROLLERS"); controllers {
	case "", "ours":
	case "builtin":
		options.Builtin = true
		options.Folder = filepath.Join(options.Folder, "builtin")
	default:
		return fmt.Errorf("CONTROLLERS is %q; it may be ours (as without it) or builtin", controllers)
	}
	return conformance.Run(ctx, options)
}
