package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// decider makes the verdicts of `down`.
type decider struct{ clusters.Decider[verdict] }

func newDecider(w *clusters.World) *decider {
	d := &decider{}
	d.Decider = clusters.Decider[verdict]{World: w, Judge: func(o clusters.Observation) (verdict, clusters.Decision) {
		v := judge(o, d.request(o))
		return v, clusters.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.again, Reason: v.why}
	}}
	return d
}

// look observes the clusters until a decision is possible or its time is over. It changes, starts and writes nothing.
// If something is stopped, it reports that at once.
func (w *decider) look(ctx context.Context) (clusters.Observation, verdict, error) {
	return w.Standing(ctx, w.Observe)
}

// peekBootstrap observes as look does, but only the bootstrap cluster if that records the teardown of the Cluster. The
// management cluster falls silent then, and each observation of it would run into its time limit.
func (w *decider) peekBootstrap(ctx context.Context) (verdict, error) {
	if side, there := w.ObserveBootstrap(ctx); there && side.Down {
		o := clusters.Observation{Bootstrap: side,
			Management:  clusters.ManagementSide{State: clusters.ManagementAbsent},
			MachinesErr: provider.ErrNotSupported}
		if v := judge(o, w.request(o)); v.decision != refuse {
			return v, nil
		}
	}
	_, v, err := w.look(ctx)
	return v, err
}

// confirm observes the clusters again before a step that cannot be undone. It fails unless the verdict allows the step.
func (w *decider) confirm(ctx context.Context, allows decision) (clusters.Observation, error) {
	return w.Confirm(ctx, func(v verdict) bool { return v.decision == allows }, stoppedMeanwhile())
}

// request returns the facts about this run that verdicts about o need.
func (w *decider) request(o clusters.Observation) request {
	return request{
		environment: w.Argument, cluster: w.Cluster,
		namespace: w.Namespace, place: w.Provider.Place(),
		bootstrap: w.Side(o.Bootstrap.Cluster), management: w.Side(o.Management.Cluster),
	}
}

// look finds how far an earlier run got, and refuses if that is not known. It starts managed containers that are
// stopped, and changes nothing else.
type look struct {
	world  world
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
