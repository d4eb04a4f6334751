package up

import (
	"context"
	"errors"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// definition enables the component `cluster` in the management cluster, so that Flux syncs the definition there. It
// first checks that the pivot is done: if two clusters reconcile a definition, they create two control planes.
type definition struct {
	world    observer
	releases releases
}

func (d definition) run(ctx context.Context, report pipeline.Reporter) error {
	if err := d.releases.checkSource(ctx, d.world, environment.Management, report); err != nil {
		return err
	}
	seen, err := d.world.progress(ctx)
	if err != nil {
		return err
	}
	if seen != pivoted {
		return fault.Retryable(errors.New("the bootstrap cluster holds the definition, so the management cluster must "+
			"not reconcile it as well"), fault.ClusterFailed,
			"Is another run at work on this environment? When it is over, run the same command again.")
	}
	management, err := d.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	return d.releases.sync(ctx, management, true, nil, report, d.releases.clusterKey())
}
