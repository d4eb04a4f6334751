package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// look finds how far an earlier run got, and refuses if that is not known. It starts managed containers that are
// stopped, and changes nothing else. The later phases rely on its verdict.
type look struct {
	world   settler
	engine  *docker.Client
	cluster string
	changes changes
	resumes *bool                          // run sets it
	applies func(*environment.Environment) // sets what the later phases apply
}

// settler makes a decision as soon as the clusters are known, and connects the run to them.
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
