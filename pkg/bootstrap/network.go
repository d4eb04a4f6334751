package bootstrap

import (
	"context"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// ensureNetwork creates the Docker network that all clusters share, unless it is there. kind would create it too, but
// looks first and then creates: runs that begin at the same moment would make several of one name, which no command can
// name from then on.
func ensureNetwork(ctx context.Context, engine *docker.Client, stateFolder string) error {
	return underNetworkLock(ctx, stateFolder, func() error {
		return engine.CreateKindNetwork(ctx, registry.DefaultNetwork, map[string]string{owned.CreatedLabel: "true"})
	})
}

// underNetworkLock does what may create that network while no other run of this user does, whatever its cluster is.
func underNetworkLock(ctx context.Context, stateFolder string, work func() error) error {
	held, err := lock.Await(ctx, filepath.Join(filepath.Dir(stateFolder), ".network.lock"), lock.Holder{})
	if err != nil {
		return err
	}
	defer held.Release() // an error leaves an unlocked file, which the next run takes over
	return work()
}
