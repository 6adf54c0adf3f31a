package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"controller-manager/test/node"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		if !errors.Is(err, node.ErrSteps) || len(os.Args) > 1 {
			fmt.Fprintln(os.Stderr, "node:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	options := node.Options{
		Deploy: "deploy",
		Images: filepath.Join("build", "node", "images"),
		Folder: filepath.Join("build", "node"),
		Log: func(format string, args ...any) {
			_, _ = fmt.Fprintf(os.Stdout, format+"\n", args...)
		},
	}
	if len(args) == 2 && args[0] == node.InsideCommand {
		return node.Inside(ctx, options, args[1])
	}
	return node.Run(ctx, options)
}
