// Command binary stands for cluster-init in the integration test: the two registry commands and nothing else.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cluster-init/cluster-init/pkg/registry"
)

// edition changes the binary's hash; the test sets it with -ldflags.
var edition = "1"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch command := os.Args[len(os.Args)-1]; command {
	case "serve":
		err = registry.Serve(ctx, registry.DefaultOptions())
	case "dial":
		err = registry.Dial(ctx, os.Stdin, os.Stdout)
	default:
		err = fmt.Errorf("edition %s: unknown command %q", edition, command)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
