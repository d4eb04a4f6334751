// Command machineadm prepares a machine for Kubernetes, runs kubeadm once, and reports the outcome.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := machineadm.Main(ctx, os.Args[1:], machineadm.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
