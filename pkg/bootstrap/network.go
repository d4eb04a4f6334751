package bootstrap

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// ensureNetwork creates the Docker network that all clusters share, unless it exists. kind would check first and then
// create it: runs that start at the same moment would create several of one name, and no command can name those.
func ensureNetwork(ctx context.Context, engine *docker.Client, stateFolder string) error {
	return lock.UnderNetwork(ctx, stateFolder, func() error {
		return engine.CreateKindNetwork(ctx, registry.DefaultNetwork, map[string]string{owned.CreatedLabel: "true"})
	})
}
