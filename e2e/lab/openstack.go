package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// newOpenstack returns the commands that start and stop OpenStack.
func newOpenstack(say *progress.Printer) *cobra.Command {
	command := &cobra.Command{
		Use:   "openstack",
		Short: "Run a real OpenStack on this machine, from Debian's packages",
	}
	with := func(use, short string, run func(cmd *cobra.Command, lab *openstack.Lab) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				lab, err := openstack.Open(say)
				if err != nil {
					return err
				}
				own, err := os.Executable()
				if err != nil {
					return fmt.Errorf("find this program: %w", err)
				}
				return run(cmd, lab.WithHypervisor(own))
			}}
	}
	command.AddCommand(newHypervisor(say),
		with("install", "Only bring Debian's packages and the configuration",
			func(cmd *cobra.Command, lab *openstack.Lab) error {
				return lab.Install(cmd.Context())
			}),
		with("start", "Bring up what is not up", func(cmd *cobra.Command, lab *openstack.Lab) error {
			if err := lab.Start(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), lab.Clouds())
			return nil
		}),
		with("status", "Show the daemons; fail unless everything is up",
			func(cmd *cobra.Command, lab *openstack.Lab) error {
				return lab.Status(cmd.Context(), cmd.OutOrStdout())
			}),
		with("stop", "Stop what start has started, and keep what is in the cloud",
			func(cmd *cobra.Command, lab *openstack.Lab) error {
				stopped, err := lab.Stop(cmd.Context())
				if err == nil && !stopped {
					say.Say("the lab has started no OpenStack that still runs")
				}
				return err
			}),
		with("clean", "Stop, and delete all of the cloud", func(cmd *cobra.Command, lab *openstack.Lab) error {
			if err := lab.Clean(cmd.Context()); err != nil {
				return err
			}
			return hypervisor.Clean(cmd.Context(), engine.Engine{Cloud: lab.Identity()}, say.Say)
		}),
	)
	return command
}
