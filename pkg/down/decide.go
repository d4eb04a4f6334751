package down

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// decider is the world with the verdicts that `down` gives on it.
type decider struct{ *world.World }

// decideLeased looks, under the leases of what it found, until a verdict can stand.
func (w *decider) decideLeased(ctx context.Context, report pipeline.Reporter) (world.Observation, verdict, error) {
	var v verdict
	o, err := w.DecideLeased(ctx, report, func(o world.Observation) world.Decision {
		v = judge(o, w.request(o))
		return world.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.again}
	})
	return o, v, err
}

// look looks without changing, starting or writing anything, until a verdict can stand or patience ends. Where
// something is stopped it says so at once.
func (w *decider) look(ctx context.Context) (world.Observation, verdict, error) {
	return w.judgeUntil(ctx, func(v verdict) (done, again bool) { return v.decision != refuse, v.again })
}

// judgeUntil looks until a verdict is enough, or nobody may hope for a better one. A refusal is an error.
func (w *decider) judgeUntil(ctx context.Context, enough func(verdict) (done, again bool)) (o world.Observation,
	v verdict, err error) {
	err = w.LookUntil(ctx, w.Observe, func(seen world.Observation) (done, again bool) {
		o, v = seen, judge(seen, w.request(seen))
		return enough(v)
	})
	if err == nil && v.decision == refuse {
		err = v.refusal
	}
	return o, v, err
}

// peekBootstrap looks as look does, but at no more than the bootstrap cluster where that knows that the Cluster is
// taken down: the management cluster falls silent then, and each look at it would take its time.
func (w *decider) peekBootstrap(ctx context.Context) (verdict, error) {
	if side, there := w.ObserveBootstrap(ctx); there && side.Down {
		o := world.Observation{Bootstrap: side, Management: world.ManagementSide{State: world.ManagementAbsent},
			MachinesErr: provider.ErrNotSupported}
		if v := judge(o, w.request(o)); v.decision != refuse {
			return v, nil
		}
	}
	_, v, err := w.look(ctx)
	return v, err
}

// confirm looks again right before something is done that cannot be undone, and fails unless the verdict is the one
// that allows it.
func (w *decider) confirm(ctx context.Context, allows decision) (world.Observation, error) {
	o, v, err := w.judgeUntil(ctx, func(v verdict) (done, again bool) {
		return v.decision == allows, v.again || v.decision == start // a container that is being made looks stopped
	})
	if err != nil {
		return o, errors.Join(err, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster)) // its hint may name the file
	}
	if v.decision == allows {
		return o, nil
	}
	if v.decision == start {
		return o, stoppedMeanwhile()
	}
	return o, fault.Retryable(fmt.Errorf("meanwhile something else has changed what there is: %s", v.why), fault.Busy,
		"Is another run at work on this environment? When it is over, run the same command again.")
}

// request is what verdicts about o need to know of this run.
func (w *decider) request(o world.Observation) request {
	return request{
		environment: w.Environment.Argument(), cluster: w.Environment.ClusterName(),
		namespace: w.Environment.ClusterNamespace(), place: w.Provider.Place(),
		bootstrap: w.Side(o.Bootstrap.Cluster), management: w.Side(o.Management.Cluster),
	}
}
