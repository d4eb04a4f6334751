package cli

import (
	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/registry"
)

// newRegistry returns the command that runs inside the registry's container. Users do not need it.
func newRegistry(streams Streams) *cobra.Command {
	c := &cobra.Command{Use: "registry", Hidden: true, Short: "Run inside the registry's container", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }} // so that cobra checks the arguments
	c.AddCommand(&cobra.Command{
		Use: "serve", Args: cobra.NoArgs, Short: "Serve the registry: read-only on the network, writable on a socket",
		RunE: func(c *cobra.Command, _ []string) error {
			return registry.Serve(c.Context(), registry.DefaultOptions())
		},
	}, &cobra.Command{
		Use: "dial", Args: cobra.NoArgs, Short: "Connect stdin and stdout to the registry's socket",
		RunE: func(c *cobra.Command, _ []string) error {
			return registry.Dial(c.Context(), streams.In, streams.binary)
		},
	})
	return c
}
