package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// look finds out how far an earlier run came, and refuses where that cannot be known. What is ours and stopped it
// starts; it changes nothing else. The phases after it build on its verdict.
type look struct {
	world   settler
	engine  *docker.Client
	cluster string
	changes changes
	resumes *bool                          // is set
	applies func(*environment.Environment) // what the phases after it apply
}

// settler says what there is, once that can be known, and has the run work with what it found.
type settler interface {
	DecideLeased(context.Context, pipeline.Reporter) (clusters.Observation, verdict, error)
	UseAndSave(clusters.Observation) error
}

func (l look) run(ctx context.Context, report pipeline.Reporter) error {
	if err := registry.CheckOurs(ctx, l.engine, l.cluster); err != nil {
		return err
	}
	o, v, err := l.world.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	applied, err := l.changes.check(ctx, o, v, report)
	if err != nil {
		return err
	}
	l.applies(applied)
	if v.warning != "" {
		report.Warn("%s", v.warning)
	}
	*l.resumes = v.decision != fresh
	report.Progress("%s", v.why)
	return l.world.UseAndSave(o)
}
