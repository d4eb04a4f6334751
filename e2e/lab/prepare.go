package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/offline"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/registries"
)

// programs are what the Makefile builds when all is prepared.
var programs = []string{"./cmd/cluster-init"}

// newPrepare returns the command behind `make up`: an engine where none answers, and a bundle where no registry does.
func newPrepare(say *progress.Printer) *cobra.Command {
	var environments []string
	var withBundle bool
	command := &cobra.Command{
		Use:   "prepare",
		Short: "Make sure that `up` can run here; print the folder of a bundle if it needs one, nothing otherwise",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := moduleRoot(cmd.Context())
			if err != nil {
				return err
			}
			if !withBundle && !registries.Answer(cmd.Context()) {
				say.Say("no container registry can be reached: using an offline bundle")
				withBundle = true
			}
			folder := ""
			group, ctx := errgroup.WithContext(cmd.Context())
			// The engine is installed during compilation: it mostly waits for the network.
			group.Go(func() error { return engine.Ensure(ctx, root, say) })
			if withBundle {
				group.Go(func() (err error) {
					folder, err = buildBundle(ctx, say, offline.Options{Environments: environments, Programs: programs})
					return err
				})
			}
			if err := group.Wait(); err != nil || folder == "" {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), folder)
			return nil
		},
	}
	command.Flags().StringSliceVar(&environments, "env", []string{"kubeadm-capd"},
		"environments that are to be brought up")
	command.Flags().BoolVar(&withBundle, "offline", false, "use a bundle even where registries answer")
	return command
}
