package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/offline"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// newBundle returns the command that builds the offline bundle and prints its folder.
func newBundle(say *progress.Printer) *cobra.Command {
	var environments []string
	var out string
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Build the offline bundle from source and print its folder",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := buildBundle(cmd.Context(), say, offline.Options{Environments: environments, Out: out})
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), folder)
			return nil
		},
	}
	command.Flags().StringSliceVar(&environments, "env", []string{"kubeadm-capd"},
		"environments that the bundle is complete for")
	command.Flags().StringVar(&out, "out", "", "folder of the bundle (default: bundle in the user's cache directory)")
	return command
}

// buildBundle builds the bundle in options.Out, or in the user's cache directory when that is empty, and returns its
// folder.
func buildBundle(ctx context.Context, say *progress.Printer, options offline.Options) (string, error) {
	root, cache, unlock, err := prepare(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if options.Out == "" {
		if options.Out, err = host.CacheDir("bundle"); err != nil {
			return "", err
		}
	}
	if options.Out, err = filepath.Abs(options.Out); err != nil {
		return "", err
	}
	options.Root, options.Store, options.Say = root, cache, say
	return options.Out, offline.Build(ctx, options)
}

// newBinaries returns the command that makes what the integration tests start and install, and prints its folder.
func newBinaries(say *progress.Printer) *cobra.Command {
	var managers, withEngine, withoutServers bool
	command := &cobra.Command{
		Use: "binaries",
		Short: "Build kube-apiserver, etcd, kustomize-controller and the manifests of Flux for the integration tests " +
			"and print their folder",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, cache, unlock, err := prepare(cmd.Context())
			if err != nil {
				return err
			}
			defer unlock()
			compiler := &golang.Builder{Root: root, Store: cache, Say: say}
			modules := []golang.Module{plan.TestController()}
			if !withoutServers {
				modules = append(plan.TestServers(), modules...)
			}
			if managers {
				modules = append(modules, plan.TestManagers()...)
			}
			dir := ""
			group, ctx := errgroup.WithContext(cmd.Context())
			group.Go(func() error {
				manifests, err := offline.TestManifests(ctx, offline.Options{Root: root, Store: cache, Say: say},
					managers)
				if err != nil {
					return err
				}
				dir, err = offline.Binaries(ctx, compiler, manifests, modules...)
				return err
			})
			if withEngine { // installed during compilation: it mostly waits for the network
				group.Go(func() error { return engine.Ensure(ctx, root, say) })
			}
			if err := group.Wait(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), dir)
			return nil
		},
	}
	command.Flags().BoolVar(&withEngine, "engine", false, "also make sure that a Docker engine runs")
	command.Flags().BoolVar(&withoutServers, "without-servers", false,
		"do not build kube-apiserver and etcd: KUBEBUILDER_ASSETS names a folder that has them")
	command.Flags().BoolVar(&managers, "managers", false, "also build the controllers that only `make test-capa` runs")
	return command
}

// prepare finds the repository and the cache, waits for any other lab that builds and clears what a killed one left.
func prepare(ctx context.Context) (root string, cache *store.Store, unlock func(), err error) {
	if root, err = moduleRoot(ctx); err != nil {
		return "", nil, nil, err
	}
	if cache, err = store.Open(); err != nil {
		return "", nil, nil, err
	}
	if unlock, err = host.Lock("build"); err != nil {
		return "", nil, nil, err
	}
	if err := offline.Sweep(); err != nil {
		unlock()
		return "", nil, nil, err
	}
	return root, cache, unlock, cache.Sweep()
}
