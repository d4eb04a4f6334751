package down

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// bootstrapCluster creates a bootstrap cluster again, or reuses the one that answers.
type bootstrapCluster struct {
	world  world
	wanted bootstrap.Wanted
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
	world world
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

// providers installs only Cluster API and its providers in the bootstrap cluster. The move requires that their versions
// are those of the management cluster.
type providers struct {
	world     world
	scope     clusters.Scope
	release   rollout.Release
	published *content.Published // of an embedded source, once it is published
	follow    rollout.Options
	now       func() time.Time
}

func (p providers) run(ctx context.Context, report pipeline.Reporter) error {
	o, err := p.world.confirm(ctx, moveBack)
	if err != nil {
		return err
	}
	c, err := p.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	if o.Bootstrap.State == clusters.BootstrapPaused || o.Bootstrap.State == clusters.BootstrapActive {
		report.Progress("the move back was begun: they are there")
		return nil
	}
	release := p.release
	release.Phase, release.Published = environment.Bootstrap, *p.published
	// What a pivot has suspended there is not resumed: only the move may bring the definition back.
	token, err := release.Apply(ctx, c, clusters.Suspension(c, p.scope), p.now())
	if err != nil {
		return err
	}
	return rollout.NewFollower(c, p.follow).Await(ctx, release.Goal(c, token), report)
}
