package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// look finds out how far an earlier run came, and refuses where that cannot be known. What is ours and stopped it
// starts; it changes nothing else.
type look struct {
	world  settler
	others otherClusters
	// keep has the phases after it work with the values that the cluster keeps: what this shell has decides nothing.
	keep func(context.Context, clusters.Observation, pipeline.Reporter)
}

// keepValues has the run use the values that the cluster keeps. Where they cannot be read or used, that must not keep a
// cluster from being deleted.
func (d *Run) keepValues(ctx context.Context, o clusters.Observation, report pipeline.Reporter) {
	counts := o.Management.Cluster
	if counts == nil {
		counts = o.Bootstrap.Cluster
	}
	if counts == nil {
		return
	}
	kept, err := rollout.Applied(ctx, counts, d.Environment)
	if err != nil {
		report.Warn("this run uses the values of the environment and of this shell: %v", err)
		return
	}
	d.Environment = kept
}

// settler says what there is, once that can be known, and has the run work with what it found.
type settler interface {
	AskEngine(context.Context) (docker.Info, error) // ports that it publishes are where it runs
	DecideLeased(context.Context, pipeline.Reporter) (clusters.Observation, verdict, error)
	UseAndSave(clusters.Observation) error
	// EndLease has the lease in a cluster end with that cluster.
	EndLease(cluster string)
}

func (l look) run(ctx context.Context, report pipeline.Reporter) error {
	if _, err := l.world.AskEngine(ctx); err != nil {
		return err
	}
	o, v, err := l.world.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	if o.Bootstrap.Down { // its machines go: who waits for a lease there waits for nothing
		l.world.EndLease(clusters.ManagementName)
	}
	report.Progress("%s", v.why)
	if _, err := l.others.checkDeletable(ctx, o); err != nil { // before anything is made
		return err
	}
	if err := l.world.UseAndSave(o); err != nil {
		return err
	}
	l.keep(ctx, o, report)
	return nil
}
