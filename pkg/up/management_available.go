package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// managementAvailable waits until the bootstrap cluster has nothing left to do for the management cluster.
type managementAvailable struct {
	world    observer
	releases releases
}

func (m managementAvailable) check(ctx context.Context) (pipeline.Status, error) {
	return beforePivot(ctx, m.world, "it holds its own definition")
}

func (m managementAvailable) run(ctx context.Context, report pipeline.Reporter) error {
	bootstrap, err := m.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	g := m.releases.of(environment.Bootstrap, true).Goal(bootstrap, "")
	g.What = "the management cluster"
	g.Ready = append(g.Ready, m.releases.clusterKey())
	return m.releases.follow(ctx, bootstrap, g, nil, report)
}
