package down

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// deletion deletes the Cluster in the bootstrap cluster, and watches until it is gone.
type deletion struct {
	world  deleter
	others otherClusters
	scope  clusters.Scope
	report time.Duration // how often it reports what it waits for
	now    func() time.Time
}

// deleter is what the deletion needs of the decider.
type deleter interface {
	observer
	// EndLease stops the renewal of the lease in a cluster, because that cluster is deleted.
	EndLease(cluster string)
	request(clusters.Observation) request
}

func (d deletion) check(ctx context.Context) (pipeline.Status, error) {
	v, err := d.world.peekBootstrap(ctx)
	if err != nil || v.decision != sweep {
		return pipeline.Status{}, err
	}
	return pipeline.Status{State: pipeline.Done, Message: v.why}, nil
}

// run confirms the decision again first. It makes sure that nothing recreates the Cluster: it suspends Flux, and marks
// the Cluster for the next run.
func (d deletion) run(ctx context.Context, report pipeline.Reporter) error {
	o, err := d.world.confirm(ctx, remove)
	if err != nil {
		return err
	}
	if err := d.others.requireNone(ctx, o); err != nil {
		return err
	}
	if own := o.Bootstrap.Holds.Cluster(d.scope.Cluster); own != nil && !own.Deleting && o.Bootstrap.Down &&
		o.Management.State == clusters.ManagementSilent {
		return observation{o}.silentManagement(d.world.request(o),
			"whether it manages other clusters is not known").refusal
	}
	c, err := d.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	if err := mark(ctx, c, d.scope); err != nil {
		return err
	}
	if err := clusters.Suspension(c, d.scope).Suspend(ctx); err != nil {
		return err
	}
	if err := rollout.MarkTakenDown(ctx, c, owned.SuspendedFor(d.scope.Namespace, d.scope.Cluster)); err != nil {
		return err
	}
	d.world.EndLease(clusters.ManagementName) // the cluster's API server goes with its machines
	return deleteAndWait{cluster: c, heartbeat: d.report, now: d.now}.delete(ctx, d.scope, report)
}
