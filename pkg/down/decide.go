package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// decider makes the verdicts of `down`.
type decider struct{ clusters.Decider[verdict] }

func newDecider(w *clusters.World) *decider {
	d := &decider{}
	d.Decider = clusters.Decider[verdict]{World: w, Judge: func(o clusters.Observation) (verdict, clusters.Decision) {
		v := judge(o, d.request(o))
		return v, clusters.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.retryable,
			Reason: v.reason}
	}}
	return d
}

// observe observes the clusters until a decision is possible or its time is over. It changes, starts and writes
// nothing. If something is stopped, it returns at once.
func (d *decider) observe(ctx context.Context) (clusters.Observation, verdict, error) {
	return d.Standing(ctx, d.Observe)
}

// peekBootstrap skips the management cluster while the bootstrap cluster records a teardown. A dying cluster would cost
// a timeout each time.
func (d *decider) peekBootstrap(ctx context.Context) (verdict, error) {
	if side, found := d.ObserveBootstrap(ctx); found && side.TeardownRequested {
		o := clusters.Observation{Bootstrap: side,
			Management:  clusters.ManagementSide{State: clusters.ManagementAbsent},
			MachinesErr: provider.ErrNotSupported} // The machines are not checked here.
		if v := judge(o, d.request(o)); v.decision != refuse {
			return v, nil
		}
	}
	_, v, err := d.observe(ctx)
	return v, err
}

// confirm observes the clusters again before a step that cannot be undone. It fails unless the new verdict is wanted.
func (d *decider) confirm(ctx context.Context, wanted decision) (clusters.Observation, error) {
	return d.Confirm(ctx, func(v verdict) bool { return v.decision == wanted }, stoppedMeanwhile())
}

// request returns the run's facts that judge needs besides the observation.
func (d *decider) request(o clusters.Observation) request {
	return request{
		environment: d.Argument, cluster: d.Cluster,
		namespace: d.Namespace, place: d.Provider.Place(),
		bootstrap: d.Side(o.Bootstrap.Cluster), management: d.Side(o.Management.Cluster),
	}
}

// look finds how far an earlier run got, and refuses if that is not known. It starts stopped containers, acquires
// leases and saves the kubeconfig.
type look struct {
	world  world
	others otherClusters
	// keep loads the values stored in the cluster for later phases.
	keep func(context.Context, clusters.Observation, pipeline.Reporter)
}

func (l look) run(ctx context.Context, report pipeline.Reporter) error {
	if _, err := l.world.AskEngine(ctx); err != nil {
		return err
	}
	o, v, err := l.world.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	if o.Bootstrap.TeardownRequested { // its machines are being deleted: its lease may be lost
		l.world.EndLease(clusters.ManagementName)
	}
	report.Progress("%s", v.reason)
	if _, err := l.others.findDeletable(ctx, o); err != nil { // before anything is created
		return err
	}
	if err := l.world.UseAndSave(o); err != nil {
		return err
	}
	l.keep(ctx, o, report)
	return nil
}
