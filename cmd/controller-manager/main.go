package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"controller-manager/cmd/controller-manager/app"
)

// sameSignal is how soon a repeated signal is taken for the first one: some programs, GNU
// timeout among them, send it twice in a row and mean it once.
const sameSignal = 250 * time.Millisecond

// main turns signals into the end of a context, and what comes of it into an exit code.
// The first signal asks for an orderly end; the second one ends the process at once.
func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-signals
		told := time.Now()
		stop()
		for again := range signals {
			if again != first || time.Since(told) > sameSignal {
				fmt.Fprintln(os.Stderr, "Told to stop a second time: ending at once, a lease that is held expires by itself")
				os.Exit(1)
			}
		}
	}()
	os.Exit(app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
