package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// look finds out how far an earlier run came, and refuses where that cannot be known. What is ours and stopped it starts; it changes nothing
// else.
type look struct {
	world  settler
	others others
}

// settler says what there is, once that can be known, and has the run work with what it found.
type settler interface {
	AskEngine(context.Context) (docker.Info, error) // ports that it publishes are where it runs
	settleAlone(context.Context, pipeline.Reporter) (world.Observation, verdict, error)
	Adopt(world.Observation) error
	// EndLease has the lease in a cluster end with that cluster.
	EndLease(cluster string)
}

func (l look) run(ctx context.Context, report pipeline.Reporter) error {
	if _, err := l.world.AskEngine(ctx); err != nil {
		return err
	}
	o, v, err := l.world.settleAlone(ctx, report)
	if err != nil {
		return err
	}
	if o.Bootstrap.Down { // its machines go: who waits for a lease there waits for nothing
		l.world.EndLease(world.ManagementName)
	}
	report.Progress("%s", v.why)
	if _, err := l.others.mayGo(ctx, o); err != nil { // before anything is made
		return err
	}
	return l.world.Adopt(o)
}
