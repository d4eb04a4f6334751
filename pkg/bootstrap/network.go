package bootstrap

import (
	"context"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// ensureNetwork creates the Docker network that all clusters share, unless it exists. kind would check first and then
// create it: runs that start at the same moment would create several of one name, and no command can name those.
func ensureNetwork(ctx context.Context, engine *docker.Client, stateFolder string) error {
	return underNetworkLock(ctx, stateFolder, func() error {
		return engine.CreateKindNetwork(ctx, registry.DefaultNetwork, map[string]string{owned.CreatedLabel: "true"})
	})
}

// underNetworkLock runs work that may create that network, and excludes all other runs of this user, whatever their
// cluster.
func underNetworkLock(ctx context.Context, stateFolder string, work func() error) error {
	held, err := lock.Await(ctx, filepath.Join(filepath.Dir(stateFolder), ".network.lock"), lock.Holder{})
	if err != nil {
		return err
	}
	defer held.Release() // an error leaves an unlocked file, which the next run takes over
	return work()
}
