// Command cluster-init bootstraps a Kubernetes management cluster the GitOps way.
package main

import (
	"context"
	"os"

	"github.com/cluster-init/cluster-init/pkg/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
