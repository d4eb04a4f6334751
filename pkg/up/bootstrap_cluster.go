package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// bootstrapCluster creates the temporary cluster that builds the management cluster, or reuses the one that answers.
type bootstrapCluster struct {
	world  bootstrapMaker
	wanted bootstrap.Wanted
}

// bootstrapMaker is what creating the bootstrap cluster needs of the decider.
type bootstrapMaker interface {
	observer
	confirm(context.Context, decision) (clusters.Observation, error)
	APIServerAddress() string
	ReachedAt() string
	SetAside() error
	// AdoptBootstrap connects to the new bootstrap cluster, and acquires its lease.
	AdoptBootstrap(context.Context, pipeline.Reporter) error
}

func (b bootstrapCluster) check(ctx context.Context) (pipeline.Status, error) {
	return beforePivot(ctx, b.world, "not needed any more, the management cluster holds its own definition")
}

func (b bootstrapCluster) run(ctx context.Context, report pipeline.Reporter) error {
	cluster := bootstrap.Cluster{Wanted: b.wanted, ListenAddress: b.world.APIServerAddress(),
		ReachedAt: b.world.ReachedAt()}
	if _, err := b.world.Connected(clusters.BootstrapName); err == nil {
		report.Progress("reusing the one that answers")
	} else if err := b.create(ctx, cluster, report); err != nil {
		return err
	}
	return cluster.WriteMirrors(ctx)
}

func (b bootstrapCluster) create(ctx context.Context, cluster bootstrap.Cluster, report pipeline.Reporter) error {
	o, err := b.world.confirm(ctx, fresh)
	if err != nil {
		return err
	}
	if err := b.world.SetAside(); err != nil {
		return err
	}
	if err := cluster.Create(ctx, o.Bootstrap.State == clusters.BootstrapUnfinished, report); err != nil {
		return err
	}
	return b.world.AdoptBootstrap(ctx, report)
}
