package up

import (
	"context"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// ensureNetwork creates the Docker network that all clusters share, unless it is there. kind would create it too, but looks first and then
// creates: runs that begin at the same moment would make several of one name, which no command can name from then on.
func (u *Run) ensureNetwork(ctx context.Context) error {
	return u.underNetworkLock(ctx, func() error {
		return u.Docker.CreateKindNetwork(ctx, registry.DefaultNetwork, map[string]string{owned.CreatedLabel: "true"})
	})
}

// underNetworkLock does what may create that network while no other run of this user does, whatever its cluster is.
func (u *Run) underNetworkLock(ctx context.Context, work func() error) error {
	held, err := lock.Await(ctx, filepath.Join(filepath.Dir(u.StateFolder), ".network.lock"), lock.Holder{})
	if err != nil {
		return err
	}
	defer held.Release() // an error leaves an unlocked file, which the next run takes over
	return work()
}
