// Command release makes what goreleaser does not make by itself, from the hooks in .goreleaser.yaml: man pages and
// completions, and the container image. "release verify" reads a finished release and checks it. "release sums" pins
// the release files that the components name, and the files of Kubernetes for stock images.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "release",
		Short:         "Make and check the parts of a release",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newDocs(), newImage(), newVerify(), newSums(), newPinned())
	return root
}
