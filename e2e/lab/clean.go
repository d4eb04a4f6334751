package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/e2e/lab/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
	machines "github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// newClean returns the command that removes what the lab left on this machine: its cache, the bundle in its default
// place, and the engine and the OpenStack that it started. Debian packages, Docker's data and bundles elsewhere stay.
func newClean(say *progress.Printer) *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Stop the lab's engine and OpenStack, and remove its cache and bundle",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			unlock, err := host.Lock("build")
			if err != nil {
				return err
			}
			defer unlock()
			cloud, err := openstack.Open(say)
			if err != nil {
				return err
			}
			if engine.Answers(cmd.Context()) { // else no container runs
				if err := cleanOpenstack(cmd.Context(), cloud, say); err != nil {
					return err
				}
			}
			if stopped, err := engine.Stop(cmd.Context()); err != nil {
				return err
			} else if stopped {
				say.Say("stopped the Docker engine that the lab had started")
			}
			return removeOwn(say)
		},
	}
}

func cleanOpenstack(ctx context.Context, cloud *openstack.Lab, say *progress.Printer) error {
	stopped, err := cloud.Stop(ctx)
	if err != nil || !stopped {
		return err
	}
	say.Say("stopped the OpenStack that the lab had started")
	return hypervisor.Clean(ctx, machines.Engine{Cloud: cloud.Identity()}, say.Say)
}

// removeOwn removes the lab's folders. What stands in the bundle's place but is no bundle stays.
func removeOwn(say *progress.Printer) error {
	lab, err := host.CacheDir("lab")
	if err != nil {
		return err
	}
	place, err := host.CacheDir("bundle")
	if err != nil {
		return err
	}
	folders := []string{lab}
	if _, err := os.Stat(filepath.Join(place, bundle.IndexFile)); err == nil {
		folders = append(folders, place)
	}
	for _, folder := range folders {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("remove %s: %w", folder, err)
		}
		say.Say("removed %s", folder)
	}
	return nil
}
