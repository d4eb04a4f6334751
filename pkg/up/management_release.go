package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// managementRelease installs the same release in the management cluster. Until the pivot the component `cluster` stays
// off there: two clusters must never both reconcile one definition.
type managementRelease struct {
	world    observer
	releases releases
}

func (m managementRelease) check(ctx context.Context) (pipeline.Status, error) {
	return beforePivot(ctx, m.world, "together with its definition, below")
}

func (m managementRelease) run(ctx context.Context, report pipeline.Reporter) error {
	management, err := m.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	// Components that the bootstrap cluster still has to install there, such as the network, can block the release.
	bootstrap, err := m.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	return m.releases.sync(ctx, management, false, bootstrap, report)
}
