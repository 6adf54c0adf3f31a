package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run())
}

// run returns the exit code: 0 after a Ctrl-C too, because that is how a cluster
// is meant to end.
func run() int {
	// A signal that comes while the first is being served must not be missed.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	again := make(chan struct{})
	go func() {
		<-signals
		cancel()
		<-signals
		close(again)
	}()

	err := newCommand(again).ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return 0 // broken off, as the user wanted
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "localcluster:", err)
		return 1
	}
	return 0
}
