package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// bootstrapCluster creates a bootstrap cluster again, or reuses the one that answers.
type bootstrapCluster struct {
	world  bootstrapMaker
	wanted bootstrap.Wanted
}

// bootstrapMaker is what creating the bootstrap cluster needs of the decider.
type bootstrapMaker interface {
	observer
	APIServerAddress() string
	ReachedAt() string
	// AdoptBootstrap connects to the new bootstrap cluster, and acquires its lease.
	AdoptBootstrap(context.Context, pipeline.Reporter) error
}

func (b bootstrapCluster) run(ctx context.Context, report pipeline.Reporter) error {
	cluster := bootstrap.Cluster{Wanted: b.wanted, ListenAddress: b.world.APIServerAddress(),
		ReachedAt: b.world.ReachedAt()}
	if _, err := b.world.Connected(clusters.BootstrapName); err == nil {
		report.Progress("reusing the one that answers")
		return cluster.WriteMirrors(ctx)
	}
	o, err := b.world.confirm(ctx, moveBack)
	if err != nil {
		return err
	}
	if err := cluster.Create(ctx, o.Bootstrap.State == clusters.BootstrapUnfinished, report); err != nil {
		return err
	}
	if err := b.world.AdoptBootstrap(ctx, report); err != nil {
		return err
	}
	return cluster.WriteMirrors(ctx)
}

// bootstrapFlux installs Flux in the bootstrap cluster.
type bootstrapFlux struct {
	world observer
	flux  bootstrap.Flux
}

func (f bootstrapFlux) run(ctx context.Context, report pipeline.Reporter) error {
	c, err := f.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	installed, err := f.flux.Installed(ctx, c)
	if err != nil {
		return err
	}
	if installed {
		report.Progress("Flux %s is running", flux.Version)
		return nil
	}
	return f.flux.Install(ctx, c, report)
}
