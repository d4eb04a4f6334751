package down

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// providers installs only Cluster API and its providers in the bootstrap cluster. The move requires that their versions
// are those of the management cluster.
type providers struct {
	world     observer
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
