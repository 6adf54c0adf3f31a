package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"controller-manager/cmd/controller-manager/app"
)

// main turns signals into the end of a context, and what comes of it into an exit code.
// The first signal asks for an orderly end; the second one ends the process at once.
func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(1)
	}()
	os.Exit(app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
