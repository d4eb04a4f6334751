// Command lab runs cluster-init with no container registry and no internet beyond the Go module proxy and Debian's
// packages: it prepares the Docker engine and builds the offline bundle from source.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot(progress.New(os.Stderr)).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

// newRoot returns the command tree.
func newRoot(say *progress.Printer) *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "Prepare all that cluster-init needs on a machine without a registry",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newPrepare(say), newEngine(say), newBundle(say), newBinaries(say), newOpenstack(say), newClean(say))
	return root
}
