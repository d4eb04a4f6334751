package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// decider gives the verdicts of `down`.
type decider struct{ clusters.Decider[verdict] }

func newDecider(w *clusters.World) *decider {
	d := &decider{}
	d.Decider = clusters.Decider[verdict]{World: w, Judge: func(o clusters.Observation) (verdict, clusters.Decision) {
		v := judge(o, d.request(o))
		return v, clusters.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.again, Reason: v.why}
	}}
	return d
}

// look observes without changing, starting or writing anything, until a verdict can stand or patience ends. Where
// something is stopped it says so at once.
func (w *decider) look(ctx context.Context) (clusters.Observation, verdict, error) {
	o, v, made, err := w.JudgeUntil(ctx, w.Observe, func(_ clusters.Observation, v verdict, _ clusters.Decision) (
		done, again bool) {
		return v.decision != refuse, v.again
	})
	if err == nil {
		err = made.Refusal
	}
	return o, v, err
}

// peekBootstrap looks as look does, but at no more than the bootstrap cluster where that knows that the Cluster is
// taken down: the management cluster falls silent then, and each look at it would take its time.
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

// confirm observes again right before something that cannot be undone, and fails unless the verdict allows it.
func (w *decider) confirm(ctx context.Context, allows decision) (clusters.Observation, error) {
	return w.Confirm(ctx, func(v verdict) bool { return v.decision == allows }, stoppedMeanwhile())
}

// request is what verdicts about o need to know of this run.
func (w *decider) request(o clusters.Observation) request {
	return request{
		environment: w.Argument, cluster: w.Cluster,
		namespace: w.Namespace, place: w.Provider.Place(),
		bootstrap: w.Side(o.Bootstrap.Cluster), management: w.Side(o.Management.Cluster),
	}
}
