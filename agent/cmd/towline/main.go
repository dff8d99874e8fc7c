// Command towline plans and applies Terraform configuration, publishes it, runs
// the agent and answers questions about it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
