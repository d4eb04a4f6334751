package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/nova"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
)

// hypervisorOptions are the flags of the hypervisor's commands.
type hypervisorOptions struct{ cloud, machine, bundle string }

// newHypervisor returns the command that makes containers of an OpenStack's servers until it is stopped.
func newHypervisor(say *progress.Printer) *cobra.Command {
	var o hypervisorOptions
	command := &cobra.Command{
		Use:   "hypervisor",
		Short: "Make a container of each server that was made of an image of the lab, until the end of this process",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runHypervisor(cmd.Context(), o, say) },
	}
	flags := command.PersistentFlags()
	flags.StringVar(&o.cloud, "cloud", "admin", "administrator's entry in clouds.yaml, which OS_CLIENT_CONFIG_FILE "+
		"names")
	flags.StringVar(&o.machine, "machine-image", "", "image of all containers in the Docker engine (default: those of "+
		"the bundle)")
	flags.StringVar(&o.bundle, "bundle", "", "folder of the bundle (default: bundle in the user's cache directory)")
	command.AddCommand(&cobra.Command{
		Use: "clean",
		Short: "Remove all containers and networks that stand for servers and networks of the cloud, which need not " +
			"exist any more",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			endpoint, err := nova.Endpoint(o.cloud)
			if err != nil {
				return err
			}
			return hypervisor.Clean(cmd.Context(), engine.Engine{Cloud: endpoint}, say.Say)
		},
	})
	return command
}

// runHypervisor runs until ctx ends, unless there is another one for the same cloud.
func runHypervisor(ctx context.Context, o hypervisorOptions, say *progress.Printer) error {
	cloud, err := connectNova(ctx, o.cloud)
	if err != nil {
		return err
	}
	unlock, err := onlyHypervisor(cloud.Endpoint)
	if err != nil {
		return err
	}
	defer unlock()
	consoles, err := host.MakeCacheDir("lab", "openstack", configuration.ConsolesName)
	if err != nil {
		return err
	}
	machines := engine.Engine{Cloud: cloud.Endpoint, Image: o.machineImage, ProxyImage: openstack.Image(),
		Consoles: consoles}
	images := slices.Sorted(maps.Keys(machineImages()))
	say.Say("servers of the images %s on %s become containers", strings.Join(images, ", "), cloud.Endpoint)
	hypervisor.New(cloud, machines, images, say.Say).Run(ctx)
	return nil
}

// connectTime bounds the wait for a cloud that has only just been started.
const connectTime = time.Minute

func connectNova(ctx context.Context, name string) (cloud *nova.Cloud, err error) {
	err = container.Wait(ctx, "an answer of cloud "+name, connectTime, func(ctx context.Context) error {
		cloud, err = nova.Connect(ctx, name)
		return err
	})
	return cloud, err
}

// onlyHypervisor fails when another process has called it for the same cloud and not ended yet: each would take the
// containers that the other is about to start for half made ones.
func onlyHypervisor(endpoint string) (unlock func(), err error) {
	dir, err := host.MakeCacheDir("lab")
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "hypervisor-"+store.Key(endpoint)+".lock"), os.O_CREATE|os.O_RDWR,
		0o644)
	if err != nil {
		return nil, fmt.Errorf("open the hypervisor's lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("another hypervisor of %s runs: %w", endpoint, err)
	}
	return func() { _ = file.Close() }, nil
}

// machineImages returns the images of machines by the names of the images that the cloud offers.
func machineImages() map[string]string {
	return map[string]string{resource.ServerImage: plan.OpenStackMachines,
		resource.StandinImage: plan.OpenStackStandinMachines, resource.StockImage: plan.OpenStackStockMachines}
}

// machineImage returns the image of machines for an image of the cloud, after it was loaded into the engine from the
// bundle if need be. The bundle is checked each time: it may be built or rebuilt while the hypervisor runs.
func (o hypervisorOptions) machineImage(ctx context.Context, name string) (string, error) {
	if o.machine != "" {
		return o.machine, nil
	}
	if name == resource.StockImage {
		return plan.OpenStackStockMachines, nil
	}
	folder := o.bundle
	if folder == "" {
		var err error
		if folder, err = host.CacheDir("bundle"); err != nil {
			return "", err
		}
	}
	b, err := bundle.Open(filepath.Clean(folder))
	if err != nil {
		return "", fmt.Errorf("the image of machines: %w", err)
	}
	for _, reference := range b.References(bundle.LoadDocker) {
		if strings.HasPrefix(reference, machineImages()[name]+":") {
			return reference, bundle.LoadImages(ctx, &docker.Client{}, b, []string{reference}, nil)
		}
	}
	return "", fmt.Errorf("the bundle in %s has no image %s, for servers of image %s: build it for the environment "+
		"that is to run", folder, machineImages()[name], name)
}
