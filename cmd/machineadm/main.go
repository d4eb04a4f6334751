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
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	code := machineadm.Main(ctx, os.Args[1:], machineadm.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
