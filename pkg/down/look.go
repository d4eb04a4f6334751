package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// look finds how far an earlier run got, and refuses if that is not known. It starts managed containers that are
// stopped, and changes nothing else.
type look struct {
	world  settler
	others otherClusters
	// keep makes the later phases use the values that the cluster keeps: the values of this shell do not count.
	keep func(context.Context, clusters.Observation, pipeline.Reporter)
}

// keepValues makes the run use the values that the cluster keeps. Values that cannot be read or used must not prevent
// the deletion of the cluster.
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

// settler makes a decision as soon as the clusters are known, and connects the run to them.
type settler interface {
	AskEngine(context.Context) (docker.Info, error) // it publishes ports on the machine where it runs
	DecideLeased(context.Context, pipeline.Reporter) (clusters.Observation, verdict, error)
	UseAndSave(clusters.Observation) error
	// EndLease stops the renewal of the lease in a cluster, because that cluster is deleted.
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
	if o.Bootstrap.Down { // its machines are being deleted: do not wait for a lease there
		l.world.EndLease(clusters.ManagementName)
	}
	report.Progress("%s", v.why)
	if _, err := l.others.checkDeletable(ctx, o); err != nil { // before anything is created
		return err
	}
	if err := l.world.UseAndSave(o); err != nil {
		return err
	}
	l.keep(ctx, o, report)
	return nil
}
