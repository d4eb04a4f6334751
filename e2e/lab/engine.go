package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/e2e/lab/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// newEngine returns the commands that start and stop the Docker engine.
func newEngine(say *progress.Printer) *cobra.Command {
	command := &cobra.Command{
		Use:   "engine",
		Short: "Make sure that a Docker engine runs that can start privileged containers",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := moduleRoot(cmd.Context())
			if err != nil {
				return err
			}
			return engine.Ensure(cmd.Context(), root, say)
		},
	}
	command.AddCommand(&cobra.Command{
		Use:   "stop",
		Short: "Stop the Docker engine that the lab started, and no other",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stopped, err := engine.Stop(cmd.Context())
			if err == nil && !stopped {
				say.Say("the lab has started no Docker engine that still runs")
			}
			return err
		},
	})
	return command
}

// moduleRoot returns the folder of the root module, where the lab's own sources are.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := host.Run(ctx, host.Command{Name: "go", Args: []string{"env", "GOMOD"}})
	if err != nil {
		return "", err
	}
	file := strings.TrimSpace(out)
	if filepath.Base(file) != "go.mod" {
		return "", fmt.Errorf("run the lab inside of the cluster-init repository")
	}
	return filepath.Dir(file), nil
}
